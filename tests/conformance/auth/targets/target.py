"""An identity server as its clients and its people see it: over plain HTTP, and nothing else.

The same tests run against ours and against npm oidc-provider. What only one of them has, such as the form
of a sign-in page, is behind the abstract methods.
"""

from __future__ import annotations

import base64
import secrets
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal
from urllib.parse import parse_qsl, quote_plus, urlsplit

import httpx2
from joserfc import jwt
from joserfc.jwk import KeySet

from tests.conformance.auth.provider.provider import ABSENT, Pkce, unverified

__all__ = ["ABSENT", "Client", "NotExpressible", "Outcome", "Pkce", "Target", "Visitor", "unverified"]


class NotExpressible(Exception):
    """The test needs something of the server that this one does not offer, such as a clock to turn."""


#: What a sign-in of the tests asks for.
SCOPE = "openid profile offline_access fleet:read"


@dataclass(frozen=True, slots=True)
class Client:
    """A registered client as both servers know it."""

    client_id: str
    secret: str | None
    redirect_uris: tuple[str, ...] = ()
    grant_types: tuple[str, ...] = ("authorization_code", "refresh_token")
    #: One of the house, which asks for no consent.
    trusted: bool = False
    native: bool = False
    more: Mapping[str, Any] = field(default_factory=dict)


SHOP = Client(
    "corner-shop",
    "corner-shop-secret",
    ("https://shop.example/cb",),
    more={"post_logout_redirect_uris": ["https://shop.example/bye"]},
)
RIVAL = Client("rival", "rival-secret", ("https://shop.example/cb", "https://rival.example/cb"))
ODD = Client("odd:shop 50%+", 'p:%2B +"&=', ("https://shop.example/cb?x=1",))
TWO = Client("two", "two-secret", ("https://shop.example/cb", "https://shop.example/other"))
ONCE = Client("once", "once-secret", ("https://shop.example/cb",), ("authorization_code",))
TOOL = Client("tool", None, ("http://127.0.0.1/cb",), native=True)
GUEST = Client("guest", None, ("http://127.0.0.1/cb",), native=True)
HOUSE = Client("house", "house-secret", ("https://loom.example/cb",), trusted=True)
DEVICE_GRANT = "urn:ietf:params:oauth:grant-type:device_code"
ROBOT = Client("robot", "robot-secret", (), ("client_credentials",))
SET = Client("set", None, (), (DEVICE_GRANT, "refresh_token"), native=True)
WALL = Client("wall", "wall-secret", (), (DEVICE_GRANT, "refresh_token"))
CLIENTS = (SHOP, RIVAL, ODD, TWO, ONCE, TOOL, GUEST, HOUSE, ROBOT, SET, WALL)

Kind = Literal["sent back", "asks to sign in", "asks for consent", "page"]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of an authorization request."""

    kind: Kind
    answer: httpx2.Response
    #: What a redirect to the client carries.
    told: Mapping[str, str] = field(default_factory=dict)

    @property
    def error(self) -> str | None:
        return self.told.get("error")

    @property
    def address(self) -> str:
        """Where the person is sent."""
        return str(self.answer.headers.get("location", ""))


@dataclass
class Visitor:
    """Somebody's browser; `account` is set once somebody is signed in."""

    browser: httpx2.AsyncClient
    account: str | None = None


class Target(ABC):
    """One server under test."""

    name: str
    issuer: str
    #: A client's back end: it keeps no cookies.
    http: httpx2.AsyncClient
    metadata: dict[str, Any]

    @abstractmethod
    def visitor(self) -> Visitor:
        """A browser that nobody has seen before."""

    @abstractmethod
    async def person(self) -> Visitor:
        """Somebody new who has just signed in."""

    @abstractmethod
    async def sign_in(self, visitor: Visitor, outcome: Outcome) -> Outcome:
        """Sign in where that is asked, as whoever this is, and come back to the request."""

    @abstractmethod
    async def outcome_of(self, visitor: Visitor, answer: httpx2.Response) -> Outcome:
        """Tell a page from a question from a redirect to the client."""

    @abstractmethod
    async def decide(self, visitor: Visitor, asked: Outcome, decision: str = "allow") -> Outcome:
        """Answer the question for consent."""

    @abstractmethod
    def later(self, seconds: int) -> None:
        """Let time pass. Raises NotExpressible where the server's clock cannot be turned."""

    @property
    @abstractmethod
    def now(self) -> datetime:
        """The time by the server's clock."""

    @abstractmethod
    def tick(self) -> None:
        """A moment passes, where the server's clock stands still by itself."""

    @abstractmethod
    async def confirm_device(self, visitor: Visitor, user_code: str, decision: str = "allow") -> None:
        """Answer a device's request for the person."""

    @abstractmethod
    async def confirm_logout(self, visitor: Visitor, page: httpx2.Response) -> httpx2.Response:
        """Say yes on the page that asks whether to sign out."""

    @property
    def asks_before_logout(self) -> bool:
        """Whether a person is asked also where a good hint came along."""
        return False

    def id_of(self, client: Client) -> str:
        """How this server names the client."""
        return client.client_id

    def secret_of(self, client: Client) -> str | None:
        """The client's secret here."""
        return client.secret

    def address_of(self, client: Client) -> str:
        """Where the client has people sent."""
        address = client.redirect_uris[0]
        return address.replace("127.0.0.1/", "127.0.0.1:53219/") if client.native else address

    def endpoint(self, name: str) -> str:
        """The address that the metadata gives."""
        return str(self.metadata[f"{name}_endpoint"])

    def basic(self, client: Client, secret: str | None = None) -> dict[str, str]:
        """The header by which a confidential client says who it is; none for a public one."""
        secret = secret or self.secret_of(client)
        if secret is None:
            return {}
        pair = f"{quote_plus(self.id_of(client))}:{quote_plus(secret)}"
        return {"Authorization": f"Basic {base64.b64encode(pair.encode()).decode()}"}

    async def call(
        self, endpoint: str, client: Client | None, form: Mapping[str, Any], **headers: str
    ) -> httpx2.Response:
        """A request of a client that authenticates."""
        sent = {name: value for name, value in form.items() if value != ABSENT}
        if client is not None and self.secret_of(client) is None:
            sent = {"client_id": self.id_of(client), **sent}
        known = self.basic(client) if client is not None else {}
        return await self.http.post(self.endpoint(endpoint), data=sent, headers={**known, **headers})

    def wanted(self, client: Client, pkce: Pkce, **changes: str) -> dict[str, str]:
        """The parameters of a good authorization request, with changes."""
        parameters = {
            "response_type": "code",
            "client_id": self.id_of(client),
            "redirect_uri": self.address_of(client),
            "scope": SCOPE,
            "state": "st-1",
            "nonce": "n-1",
            "code_challenge": pkce.challenge,
            "code_challenge_method": "S256",
            **changes,
        }
        return {name: value for name, value in parameters.items() if value != ABSENT}

    async def ask(
        self, visitor: Visitor, client: Client, pkce: Pkce | None = None, /, **changes: str
    ) -> Outcome:
        """An authorization request, as far as it goes without anybody doing anything."""
        sent = self.wanted(client, pkce or Pkce(), **changes)
        return await self.ask_with(visitor, sent)

    async def ask_with(self, visitor: Visitor, sent: Any) -> Outcome:
        """The same with these parameters as they are."""
        answer = await visitor.browser.get(self.endpoint("authorization"), params=sent)
        return await self.outcome_of(visitor, answer)

    async def agreed(
        self, visitor: Visitor, client: Client, pkce: Pkce | None = None, /, **changes: str
    ) -> Outcome:
        """The request, signed in and agreed to where that is asked."""
        outcome = await self.ask(visitor, client, pkce, **changes)
        return await self.settled(visitor, outcome)

    async def settled(self, visitor: Visitor, outcome: Outcome) -> Outcome:
        """Do whatever is asked until the person is sent back."""
        for _ in range(4):
            if outcome.kind == "asks to sign in":
                outcome = await self.sign_in(visitor, outcome)
            elif outcome.kind == "asks for consent":
                outcome = await self.decide(visitor, outcome)
            else:
                break
        return outcome

    async def code(self, visitor: Visitor, client: Client, pkce: Pkce, **changes: str) -> str:
        outcome = await self.agreed(visitor, client, pkce, **changes)
        assert "code" in outcome.told, f"no code: {outcome.kind} {outcome.address} {outcome.answer.text}"
        return outcome.told["code"]

    async def redeem(self, client: Client, code: str, pkce: Pkce, **changes: Any) -> httpx2.Response:
        form = {
            "grant_type": "authorization_code",
            "code": code,
            "code_verifier": pkce.verifier,
            "redirect_uri": self.address_of(client),
            **changes,
        }
        return await self.call("token", client, form)

    async def tokens(self, visitor: Visitor, client: Client, **changes: str) -> dict[str, Any]:
        """A whole sign-in."""
        pkce = Pkce()
        answer = await self.redeem(client, await self.code(visitor, client, pkce, **changes), pkce)
        assert answer.status_code == 200, answer.text
        found: dict[str, Any] = answer.json()
        return found

    async def refresh(self, client: Client, token: str, **changes: str) -> httpx2.Response:
        form = {"grant_type": "refresh_token", "refresh_token": token, **changes}
        return await self.call("token", client, form)

    async def introspect(self, client: Client, token: str) -> dict[str, Any]:
        answer = await self.call("introspection", client, {"token": token})
        assert answer.status_code == 200, answer.text
        found: dict[str, Any] = answer.json()
        return found

    async def userinfo(self, access_token: str) -> httpx2.Response:
        headers = {"Authorization": f"Bearer {access_token}"}
        return await self.http.get(self.endpoint("userinfo"), headers=headers)

    async def is_dead(self, access_token: str) -> bool:
        """Whether the token opens nothing any more."""
        return (await self.userinfo(access_token)).status_code == 401

    async def api_token(self, visitor: Visitor, client: Client) -> str:
        """An access token for the API, as a JWT."""
        return str((await self.tokens(visitor, client))["access_token"])

    async def keys(self) -> KeySet:
        return KeySet.import_key_set((await self.http.get(str(self.metadata["jwks_uri"]))).json())

    async def read(self, token: str) -> dict[str, Any]:
        """The claims of a token, its signature checked against the published keys."""
        return dict(jwt.decode(token, await self.keys(), algorithms=["ES256", "RS256"]).claims)


def redirect_parameters(address: str) -> dict[str, str]:
    """What a redirect to a client carries; the answer to `response_type=token` may be in the fragment."""
    parts = urlsplit(address)
    return dict(parse_qsl(parts.query or parts.fragment, keep_blank_values=True))


def made_up() -> str:
    """A name that nobody has."""
    return f"p{secrets.token_hex(6)}"
