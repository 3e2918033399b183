"""auth_server in process, and people with browsers and authenticators."""

import secrets
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from http.cookies import SimpleCookie
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx2
from argon2 import PasswordHasher
from fastapi import FastAPI
from sqlalchemy import event, text
from starlette.types import ASGIApp

from auth_server.app import create_app
from auth_server.commands import make_invitation
from auth_server.resources import AuthResources, open_resources
from auth_server.settings import AuthSettings
from shared.database import DatabaseSettings, open_database
from shared.database.migrations import upgrade
from shared.kernel.principal import Role
from shared.testing.authenticator import HONEST, Authenticator, Claims

ORIGIN = "http://localhost:8420"
API = "/auth/api/v1"
SESSION = "__Host-rl_auth"
CSRF = "__Host-rl_csrf"
HTML = {"Accept": "text/html"}


@dataclass
class HandClock:
    """Stands still until it is turned."""

    at: datetime = field(default_factory=lambda: datetime(2030, 1, 2, 3, 4, 5, tzinfo=UTC))

    def __call__(self) -> datetime:
        return self.at

    def turn(self, by: timedelta) -> None:
        self.at += by


@dataclass
class Person:
    """A browser with a cookie jar, an address and an authenticator."""

    app: ASGIApp
    address: str = "192.0.2.10"
    authenticator: Authenticator = field(default_factory=lambda: Authenticator(ORIGIN))
    cookies: dict[str, str] = field(default_factory=lambda: {CSRF: secrets.token_urlsafe(32)})

    async def send(self, method: str, path: str, **options: Any) -> httpx2.Response:
        """One request as this browser sends it; its answer's cookies are kept."""
        headers = {
            "Cookie": "; ".join(f"{name}={value}" for name, value in self.cookies.items()),
            "X-CSRF-Token": self.cookies[CSRF],
            "User-Agent": "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0",
            **options.pop("headers", {}),
        }
        transport = httpx2.ASGITransport(
            app=self.app, raise_app_exceptions=False, client=(self.address, 40000)
        )
        async with httpx2.AsyncClient(transport=transport, base_url=ORIGIN) as client:
            answer = await client.request(method, path, headers=headers, **options)
        for header in answer.headers.get_list("set-cookie"):
            for name, morsel in SimpleCookie(header).items():
                if morsel.value:
                    self.cookies[name] = morsel.value
                else:
                    self.cookies.pop(name, None)
        return answer

    async def get(self, path: str, **options: Any) -> httpx2.Response:
        return await self.send("GET", path, **options)

    async def post(self, path: str, body: Any = None, **options: Any) -> httpx2.Response:
        return await self.send("POST", path, json={} if body is None else body, **options)

    async def page(self, path: str) -> httpx2.Response:
        return await self.send("GET", path, headers=HTML)

    async def form(self, path: str, **fields: str) -> httpx2.Response:
        """Post a form as a page does: the token is a field, and no script adds a header."""
        fields["csrf_token"] = self.cookies[CSRF]
        return await self.send("POST", path, data=fields, headers={"X-CSRF-Token": "", **HTML})

    async def begin(self, path: str, body: Any = None) -> dict[str, Any]:
        """Options of a ceremony that may begin."""
        answer = await self.post(f"{API}/{path}/options", body)
        assert answer.status_code == 200, answer.text
        found: dict[str, Any] = answer.json()
        return found

    async def accept(self, invitation: str, name: str, claims: Claims = HONEST) -> httpx2.Response:
        """Make an account with a passkey."""
        secret = urlsplit(invitation).path.rsplit("/", 1)[1]
        wanted = {"invitation": secret, "name": name, "display_name": name.title()}
        begun = await self.begin("invitations/accept", wanted)
        return await self.post(
            f"{API}/invitations/accept",
            {
                "ceremony": begun["ceremony"],
                "invitation": secret,
                "credential": self.authenticator.create(begun["options"], claims),
            },
        )

    async def assertion(
        self, claims: Claims = HONEST, path: str = "sign-in", **wanted: Any
    ) -> dict[str, Any]:
        """What would be posted to sign in or to step up."""
        begun = await self.begin(path, wanted)
        credential = self.authenticator.get(begun["options"], claims)
        return {"ceremony": begun["ceremony"], "credential": credential}

    async def sign_in(self, claims: Claims = HONEST, **wanted: Any) -> httpx2.Response:
        return await self.post(f"{API}/sign-in", await self.assertion(claims, **wanted))

    async def step_up(self, claims: Claims = HONEST) -> httpx2.Response:
        return await self.post(f"{API}/step-up", await self.assertion(claims, path="step-up"))

    async def add_passkey(
        self, claims: Claims = HONEST, authenticator: Authenticator | None = None
    ) -> httpx2.Response:
        begun = await self.begin("passkeys")
        credential = (authenticator or self.authenticator).create(begun["options"], claims)
        return await self.post(f"{API}/passkeys", {"ceremony": begun["ceremony"], "credential": credential})

    async def recovery_codes(self) -> list[str]:
        answer = await self.post(f"{API}/recovery-codes")
        assert answer.status_code == 201, answer.text
        return list(answer.json()["codes"])

    async def recover(self, name: str, code: str) -> httpx2.Response:
        return await self.post(f"{API}/recovery", {"name": name, "code": code})

    async def is_in(self) -> bool:
        return (await self.get(f"{API}/sessions")).status_code == 200


@dataclass
class House:
    """The server, and whoever comes."""

    resources: AuthResources
    app: FastAPI
    clock: HandClock
    _addresses: int = 10

    def visitor(self, **options: Any) -> Person:
        """A browser that nobody has seen before, at an address of its own."""
        self._addresses += 1
        options.setdefault("address", f"192.0.2.{self._addresses}")
        options.setdefault("app", self.app)
        return Person(**options)

    async def invitation(self, role: Role = Role.VIEWER) -> str:
        return await make_invitation(self.resources, role)

    async def person(self, name: str, role: Role = Role.VIEWER, **options: Any) -> Person:
        """Somebody who has an account and is signed in."""
        someone = self.visitor(**options)
        answer = await someone.accept(await self.invitation(role), name)
        assert answer.status_code == 201, answer.text
        return someone

    async def actions(self) -> list[str]:
        """What the audit trail says, oldest first."""
        return [str(row[0]) for row in await self.rows("SELECT action FROM audit_events ORDER BY id")]

    @contextmanager
    def statements(self) -> Iterator[list[str]]:
        """The SQL that runs meanwhile."""
        seen: list[str] = []

        def note(_connection: Any, _cursor: Any, statement: str, *_more: Any) -> None:
            seen.append(statement)

        engines = {self.resources.database.writer.sync_engine, self.resources.database.reader.sync_engine}
        for engine in engines:
            event.listen(engine, "before_cursor_execute", note)
        yield seen
        for engine in engines:
            event.remove(engine, "before_cursor_execute", note)

    async def rows(self, query: str) -> list[Any]:
        async with self.resources.database.reading() as session:
            return list((await session.execute(text(query))).all())

    async def kept(self, query: str) -> str:
        """All that the rows hold: as they show themselves, long values end in their middle."""
        return repr([tuple(row) for row in await self.rows(query)])


async def migrate(database_url: str) -> None:
    """Make the tables of a new installation."""
    database = open_database(DatabaseSettings.model_validate({"url": database_url}))
    await upgrade(database, "auth_server")
    await database.close()


@asynccontextmanager
async def open_house(
    database_url: str,
    directory: Path,
    *,
    clock: HandClock | None = None,
    http: httpx2.AsyncClient | None = None,
    **wanted: Any,
) -> AsyncIterator[House]:
    """The server over a database that has its tables; `http` reaches other services in its place."""
    settings = AuthSettings.model_validate(
        {"database": {"url": database_url}, "state_directory": directory, **wanted}
    )
    clock = clock or HandClock()
    async with open_resources(settings, clock) as opened:
        resources = replace(opened, http=http or opened.http)
        app = create_app(settings, resources)
        async with app.router.lifespan_context(app):
            app.state.slow_hashes.hasher = PasswordHasher(time_cost=1, memory_cost=64, parallelism=1)
            yield House(resources, app, clock)
