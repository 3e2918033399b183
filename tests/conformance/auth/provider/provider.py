"""auth_server in process, its clients, and the browsers of people who are signed in."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import json
import secrets
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit
from uuid import UUID

import httpx2
from fastapi import FastAPI
from joserfc import jwt
from joserfc.jwk import KeySet
from sqlalchemy import text

from auth_server.accounts.dependencies import account_service
from auth_server.accounts.models import Account
from auth_server.accounts.service import AccountService
from auth_server.app import create_app
from auth_server.audit.dependencies import audit_service
from auth_server.clients.dependencies import client_service
from auth_server.clients.schemas import ClientRegistration
from auth_server.clients.store import FailedSecrets
from auth_server.commands import seed
from auth_server.resources import AuthResources, open_resources
from auth_server.sessions.dependencies import SESSION_COOKIE
from auth_server.sessions.schemas import Browser, SignedIn
from auth_server.sessions.service import PASSKEY
from auth_server.settings import AuthSettings
from auth_server.tokens.dependencies import TokenServices, token_services
from shared.database import open_database
from shared.database.migrations import upgrade
from shared.kernel.ids import new_uuid
from shared.kernel.principal import Role
from shared.web import csrf

ORIGIN = "https://loom.example"
ISSUER = f"{ORIGIN}/auth"
#: A confidential client of somebody else, which asks for consent.
SHOP = "shop"
SHOP_SECRET = "shop-secret"
SHOP_URI = "https://shop.example/cb"
#: A public client on a person's machine.
TOOL = "tool"
TOOL_URI = "http://127.0.0.1/cb"
PORTAL = "routeloom-portal"
PORTAL_URI = f"{ORIGIN}/sign-in/callback"


@dataclass
class HandClock:
    """Stands still until it is turned."""

    at: datetime = field(default_factory=lambda: datetime(2030, 1, 2, 3, 4, 5, tzinfo=UTC))

    def __call__(self) -> datetime:
        return self.at

    def turn(self, **by: float) -> None:
        self.at += timedelta(**by)


@dataclass(frozen=True)
class Pkce:
    """A verifier and its challenge."""

    verifier: str = field(default_factory=lambda: secrets.token_urlsafe(48))

    @property
    def challenge(self) -> str:
        digest = hashlib.sha256(self.verifier.encode()).digest()
        return base64.urlsafe_b64encode(digest).rstrip(b"=").decode()


@dataclass
class Person:
    """Somebody signed in, with the browser that says so."""

    account_id: UUID
    session_id: UUID
    browser: httpx2.AsyncClient
    cookie: str

    @property
    def csrf(self) -> str:
        return self.browser.cookies.get(csrf.COOKIE) or ""


@dataclass
class Provider:
    """The server and everybody around it."""

    app: FastAPI
    resources: AuthResources
    clock: HandClock
    #: Has no cookies: a client's back end.
    http: httpx2.AsyncClient
    #: Where the portal is told of ended sessions.
    receiver: Receiver
    browsers: list[httpx2.AsyncClient] = field(default_factory=list)

    @property
    def portal_secret(self) -> str:
        path = self.resources.settings.state_directory / "secrets" / "portal-client"
        return path.read_text().strip()

    def browser(self) -> httpx2.AsyncClient:
        opened = httpx2.AsyncClient(
            transport=httpx2.ASGITransport(app=self.app, raise_app_exceptions=False),
            base_url=ORIGIN,
            headers={"Accept": "text/html"},
        )
        self.browsers.append(opened)
        return opened

    @asynccontextmanager
    async def services(self) -> AsyncIterator[TokenServices]:
        async with self.resources.database.transaction() as session:
            yield token_services(self.app.state.tokens, session)

    async def person(self, role: Role = Role.ADMIN, amr: Sequence[str] = PASSKEY) -> Person:
        """Somebody new who has just signed in."""
        account = Account(
            id=new_uuid(),
            name=f"p{secrets.token_hex(6)}",
            display_name="Ada Example",
            role=role,
            created_at=self.clock(),
            disabled_at=None,
        )
        async with self.resources.database.transaction() as session:
            session.add(account)
            await session.flush()
            sessions = token_services(self.app.state.tokens, session).sessions
            cookie = await sessions.begin(account, amr, Browser("Firefox/140 Linux", "192.0.2.7"))
            signed_in = await sessions.find(cookie)
        assert signed_in is not None
        browser = self.browser()
        browser.cookies.set(SESSION_COOKIE, cookie, domain="loom.example")
        return Person(account.id, signed_in.session_id, browser, cookie)

    @asynccontextmanager
    async def accounts(self) -> AsyncIterator[AccountService]:
        """Accounts whose changes are told to everybody, as in a request."""
        async with self.resources.database.transaction() as session:
            audit = audit_service(session, self.clock)
            yield account_service(self.resources, session, audit, self.app.state.after_account_change)

    async def signed_in(self, person: Person) -> SignedIn:
        """What the person's cookie says."""
        async with self.services() as services:
            found = await services.sessions.find(person.browser.cookies.get(SESSION_COOKIE) or "")
        assert found is not None
        return found

    async def end_session(self, person: Person) -> None:
        async with self.services() as services:
            await services.sessions.end(person.session_id)

    async def register(self, secret: str | None = SHOP_SECRET, **wanted: Any) -> None:
        values = {"name": "Corner shop", "redirect_uris": [SHOP_URI], "scopes": ALL, **wanted}
        registration = ClientRegistration.model_validate(values)
        async with self.resources.database.transaction() as session:
            clients = client_service(self.resources, session, FailedSecrets())
            await clients.register(registration, secret)

    async def execute(self, statement: str, **values: Any) -> None:
        async with self.resources.database.transaction() as session:
            await session.execute(text(statement), values)

    async def rows(self, statement: str, **values: Any) -> list[Any]:
        async with self.resources.database.reading() as session:
            return list((await session.execute(text(statement), values)).all())

    async def kept(self, query: str) -> str:
        """All that the rows hold: as they show themselves, long values end in their middle."""
        return repr([tuple(row) for row in await self.rows(query)])

    async def actions(self, person: Person) -> list[str]:
        """What the audit trail says of this person, oldest first."""
        query = "SELECT action FROM audit_events WHERE actor_id = :actor ORDER BY id"
        return [row[0] for row in await self.rows(query, actor=str(person.account_id))]

    async def grants(self, person: Person) -> list[Any]:
        """This person's grants: when and why each was revoked."""
        query = "SELECT revoked_at, revoke_reason FROM grants WHERE account_id = :owner"
        return await self.rows(query, owner=self.stored(person.account_id))

    def stored(self, ident: UUID) -> Any:
        """An id as this database's driver takes it in a plain statement."""
        return ident.hex if self.resources.database.dialect == "sqlite" else ident

    async def keys(self) -> KeySet:
        return KeySet.import_key_set((await self.http.get("/auth/jwks.json")).json())

    async def read(self, token: str) -> dict[str, Any]:
        """The claims of a token, its signature checked against the published keys."""
        decoded = jwt.decode(token, await self.keys(), algorithms=["ES256", "RS256"])
        return decoded.claims

    def authentication(self, client_id: str) -> dict[str, str]:
        """Form parameters by which a client says who it is."""
        known = {SHOP: SHOP_SECRET, PORTAL: self.portal_secret}
        secret = known.get(client_id)
        return {"client_id": client_id, **({"client_secret": secret} if secret else {})}

    async def token(self, client_id: str = PORTAL, **form: str) -> httpx2.Response:
        sent = {**self.authentication(client_id), **form}
        return await self.http.post("/auth/token", data={k: v for k, v in sent.items() if v != ABSENT})

    async def redeem(self, code: str, pkce: Pkce, client_id: str = PORTAL, **changes: str) -> httpx2.Response:
        form = {
            "grant_type": "authorization_code",
            "code": code,
            "code_verifier": pkce.verifier,
            "redirect_uri": URI_OF[client_id],
            **changes,
        }
        return await self.token(client_id, **form)

    async def refresh(self, token: str, client_id: str = PORTAL, **changes: str) -> httpx2.Response:
        form = {"grant_type": "refresh_token", "refresh_token": token, **changes}
        return await self.token(client_id, **form)

    async def introspect(self, token: str, client_id: str = PORTAL) -> dict[str, Any]:
        form = {**self.authentication(client_id), "token": token}
        answer = await self.http.post("/auth/introspect", data=form)
        assert answer.status_code == 200, answer.text
        found: dict[str, Any] = answer.json()
        return found

    async def userinfo(self, access_token: str) -> httpx2.Response:
        return await self.http.get("/auth/userinfo", headers={"Authorization": f"Bearer {access_token}"})

    async def authorize(
        self, person: Person | httpx2.AsyncClient, pkce: Pkce, client_id: str = PORTAL, **changes: str
    ) -> httpx2.Response:
        browser = person.browser if isinstance(person, Person) else person
        return await browser.get("/auth/authorize", params=wanted(pkce, client_id, **changes))

    async def agree(self, person: Person, page: httpx2.Response, decision: str = "allow") -> httpx2.Response:
        """Answer the consent page."""
        assert page.status_code == 200, page.text
        form = {"csrf_token": person.csrf, "request": question_of(page), "decision": decision}
        return await person.browser.post("/auth/consent", data=form)

    async def code(self, person: Person, pkce: Pkce, client_id: str = PORTAL, **changes: str) -> str:
        """A code, agreed to where that is asked."""
        answer = await self.authorize(person, pkce, client_id, **changes)
        if answer.status_code == 200:
            answer = await self.agree(person, answer)
        return query_of(answer)["code"]

    async def tokens(self, person: Person, client_id: str = PORTAL, **changes: str) -> dict[str, Any]:
        """A whole sign-in."""
        pkce = Pkce()
        answer = await self.redeem(await self.code(person, pkce, client_id, **changes), pkce, client_id)
        assert answer.status_code == 200, answer.text
        found: dict[str, Any] = answer.json()
        return found


#: Leave a parameter out.
ABSENT = "\x00"
ALL = ("openid", "profile", "email", "offline_access", "fleet:read", "fleet:write", "audit:read")
URI_OF = {PORTAL: PORTAL_URI, SHOP: SHOP_URI, TOOL: "http://127.0.0.1:53219/cb"}


def wanted(pkce: Pkce, client_id: str = PORTAL, **changes: str) -> dict[str, str]:
    """The parameters of a good authorization request, with changes."""
    parameters = {
        "response_type": "code",
        "client_id": client_id,
        "redirect_uri": URI_OF.get(client_id, SHOP_URI),
        "scope": "openid profile offline_access fleet:read",
        "state": "st-1",
        "nonce": "n-1",
        "code_challenge": pkce.challenge,
        "code_challenge_method": "S256",
        **changes,
    }
    return {name: value for name, value in parameters.items() if value != ABSENT}


def query_of(answer: httpx2.Response) -> dict[str, str]:
    """What a redirect to a client carries."""
    assert answer.status_code == 303, answer.text
    return dict(parse_qsl(urlsplit(answer.headers["location"]).query, keep_blank_values=True))


def question_of(page: httpx2.Response) -> str:
    """The id of the question on a consent page."""
    return page.text.split('name="request" value="')[1].split('"')[0]


def settings_for(database_url: str, directory: Path, origin: str) -> AuthSettings:
    return AuthSettings.model_validate(
        {"database": {"url": database_url}, "state_directory": directory, "web": {"public_url": origin}}
    )


async def fill(database_url: str, directory: Path, origin: str = ORIGIN) -> None:
    """Schema, signing keys and clients, once for all tests."""
    settings = settings_for(database_url, directory, origin)
    database = open_database(settings.database)
    await upgrade(database, "auth_server")
    await database.close()
    await seed(settings)
    async with open_resources(settings) as resources, resources.database.transaction() as session:
        clients = client_service(resources, session, FailedSecrets())
        shop = {"client_id": SHOP, "name": "Corner shop", "redirect_uris": [SHOP_URI], "scopes": ALL}
        shop |= {
            "post_logout_redirect_uris": ["https://shop.example/bye"],
            "origins": ["https://shop.example"],
        }
        tool = {"client_id": TOOL, "name": "Tool", "redirect_uris": [TOOL_URI], "scopes": ALL, "native": True}
        await clients.register(ClientRegistration.model_validate(shop), SHOP_SECRET)
        await clients.register(ClientRegistration.model_validate(tool), None)


@dataclass
class Receiver:
    """A client's back-channel logout address on loopback: notes what it is told, and answers as it is set."""

    heard: list[dict[str, str]] = field(default_factory=list)
    status: str = "200 OK"
    port: int = 0
    location: str = ""

    async def answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        length = int(head.lower().split("content-length:")[1].split()[0])
        body = (await reader.readexactly(length)).decode()
        self.heard.append({"path": head.split()[1], **dict(parse_qsl(body))})
        more = f"Location: {self.location}\r\n" if self.location else ""
        writer.write(
            f"HTTP/1.1 {self.status}\r\nContent-Length: 0\r\n{more}Connection: close\r\n\r\n".encode()
        )
        await writer.drain()
        writer.close()

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}/backchannel"

    @asynccontextmanager
    async def listening(self) -> AsyncIterator[Receiver]:
        server = await asyncio.start_server(self.answer, "127.0.0.1", 0)
        self.port = server.sockets[0].getsockname()[1]
        async with server:
            yield self

    async def told_of(self, session_id: UUID) -> dict[str, Any]:
        """The unverified claims of the message about this session, once it is there."""
        async with asyncio.timeout(20):
            while True:
                for message in self.heard:
                    claims = unverified(message["logout_token"])
                    if claims["sid"] == str(session_id):
                        return {**claims, "token": message["logout_token"]}
                await asyncio.sleep(0.02)


def unverified(token: str) -> dict[str, Any]:
    """The claims of a token, whoever signed it."""
    payload = token.split(".")[1]
    found: dict[str, Any] = json.loads(base64.urlsafe_b64decode(payload + "=" * (-len(payload) % 4)))
    return found


@asynccontextmanager
async def open_provider(
    database_url: str, directory: Path, origin: str = ORIGIN, others: httpx2.AsyncClient | None = None
) -> AsyncIterator[Provider]:
    """A server on a filled database; the portal's back channel is a receiver of the tests.

    `others` reaches other services in the place of its own client.
    """
    clock = HandClock()
    settings = settings_for(database_url, directory, origin)
    async with open_resources(settings, clock) as own:
        resources = replace(own, http=others or own.http)
        app = create_app(settings, resources)
        transport = httpx2.ASGITransport(app=app, raise_app_exceptions=False)
        async with (
            Receiver().listening() as receiver,
            app.router.lifespan_context(app),
            httpx2.AsyncClient(transport=transport, base_url=ORIGIN) as http,
        ):
            provider = Provider(app, resources, clock, http, receiver)
            statement = "UPDATE clients SET backchannel_logout_uri = :uri WHERE id = :portal"
            await provider.execute(statement, uri=receiver.address, portal=PORTAL)
            yield provider
            for browser in provider.browsers:
                await browser.aclose()
