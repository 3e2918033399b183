"""auth_server in process, seen as its clients and its people see it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import datetime
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from uuid import UUID

import httpx2
import pytest

from auth_server.accounts.models import Account
from auth_server.sessions.dependencies import SESSION_COOKIE
from auth_server.sessions.schemas import Browser
from auth_server.sessions.service import PASSKEY
from shared.web import csrf
from tests.conformance.auth.provider.provider import (
    ALL,
    ISSUER,
    ORIGIN,
    Provider,
    fill,
    open_provider,
)
from tests.conformance.auth.targets.target import (
    CLIENTS,
    Client,
    Outcome,
    Target,
    Visitor,
    redirect_parameters,
)

KV_URL = "ROUTELOOM_AUTH_KV__URL"
#: Generous, for what is counted here is counted on a machine that is busy with other tests, too.
KV_DEADLINE = "ROUTELOOM_AUTH_KV__DEADLINE"
#: After a sign-in that the server asked for, the request comes with the time that the sign-in must reach.
_FRESH = Browser("Firefox/140 Linux", "192.0.2.7")


class Ours(Target):
    """One process over one database and, perhaps, Valkey."""

    name = "ours"
    issuer = ISSUER

    def __init__(self, provider: Provider, metadata: dict[str, Any]) -> None:
        self.provider = provider
        self.http = provider.http
        self.metadata = metadata

    def visitor(self) -> Visitor:
        return Visitor(self.provider.browser())

    async def person(self) -> Visitor:
        person = await self.provider.person()
        return Visitor(person.browser, str(person.account_id))

    async def outcome_of(self, visitor: Visitor, answer: httpx2.Response) -> Outcome:
        location = answer.headers.get("location")
        if location is None:
            asks = answer.status_code == 200 and 'name="request"' in answer.text
            return Outcome("asks for consent" if asks else "page", answer)
        if urlsplit(location).path == "/auth/sign-in":
            return Outcome("asks to sign in", answer)
        if location.startswith(("/", f"{ORIGIN}/auth/")):
            return await self.outcome_of(visitor, await visitor.browser.get(location))
        return Outcome("sent back", answer, redirect_parameters(location))

    async def sign_in(self, visitor: Visitor, outcome: Outcome) -> Outcome:
        """A passkey's part is played by a new session of the same person, or of somebody new."""
        self.provider.clock.turn(seconds=1)
        if visitor.account is None:
            person = await self.provider.person()
            visitor.account, cookie = str(person.account_id), person.cookie
        else:
            cookie = await self._session_of(UUID(visitor.account))
        visitor.browser.cookies.set(SESSION_COOKIE, cookie, domain="loom.example")
        on = redirect_parameters(outcome.address)["next"]
        return await self.outcome_of(visitor, await visitor.browser.get(on))

    async def _session_of(self, account_id: UUID) -> str:
        async with self.provider.services() as services:
            account = await services.sessions.sessions.session.get(Account, account_id)
            assert account is not None
            return await services.sessions.begin(account, PASSKEY, _FRESH)

    async def decide(self, visitor: Visitor, asked: Outcome, decision: str = "allow") -> Outcome:
        form = {**_fields(asked.answer.text, "csrf_token", "request"), "decision": decision}
        return await self.outcome_of(visitor, await visitor.browser.post("/auth/consent", data=form))

    @property
    def now(self) -> datetime:
        return self.provider.clock()

    def tick(self) -> None:
        self.provider.clock.turn(seconds=2)

    def later(self, seconds: int) -> None:
        self.provider.clock.turn(seconds=seconds)

    async def confirm_device(self, visitor: Visitor, user_code: str, decision: str = "allow") -> None:
        page = await visitor.browser.get("/auth/device", params={"user_code": user_code})
        form = {**_fields(page.text, "csrf_token", "user_code"), "decision": decision}
        answer = await visitor.browser.post("/auth/device/decision", data=form)
        assert answer.status_code == 303, answer.text

    async def confirm_logout(self, visitor: Visitor, page: httpx2.Response) -> httpx2.Response:
        csrf_token = visitor.browser.cookies.get(csrf.COOKIE) or ""
        return await visitor.browser.post("/auth/logout", data={"csrf_token": csrf_token, "confirmed": "yes"})


def _fields(page: str, *names: str) -> dict[str, str]:
    return {name: page.split(f'name="{name}" value="')[1].split('"', maxsplit=1)[0] for name in names}


async def _register(provider: Provider, client: Client) -> None:
    values: dict[str, Any] = {
        "client_id": client.client_id,
        "redirect_uris": client.redirect_uris,
        "grant_types": client.grant_types,
        "native": client.native,
        "first_party": client.trusted,
        "scopes": ALL,
        **client.more,
    }
    if client.grant_types == ("client_credentials",):
        values |= {"role": "operator", "scopes": ("fleet:read", "fleet:write")}
    await provider.register(client.secret, **values)


@asynccontextmanager
async def open_ours(database_url: str, directory: Path, kv_url: str | None) -> AsyncIterator[Ours]:
    """The server on a fresh database, its clients registered."""
    async with AsyncExitStack() as stack:
        # Only while it is opened: it may live beside the tests of other files.
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv(KV_URL, kv_url or "")
            patch.setenv(KV_DEADLINE, "PT2S")
            await fill(database_url, directory)
            provider = await stack.enter_async_context(open_provider(database_url, directory))
        for client in CLIENTS:
            await _register(provider, client)
        metadata = (await provider.http.get("/auth/.well-known/openid-configuration")).json()
        yield Ours(provider, metadata)
