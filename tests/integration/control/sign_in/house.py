"""control_server and auth_server on one loopback origin, people, and their browsers."""

import asyncio
import secrets
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from http.cookies import SimpleCookie
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urljoin, urlsplit
from uuid import UUID

import httpx2
import uvicorn
from authlib.integrations.httpx_client import AsyncOAuth2Client  # type: ignore[import-untyped]
from fastapi import FastAPI
from sqlalchemy import text

from auth_server.accounts.models import Account
from auth_server.accounts.schemas import AccountChange, AccountChanged
from auth_server.app import create_app as create_auth
from auth_server.commands import seed as seed_auth
from auth_server.resources import AuthResources
from auth_server.resources import open_resources as open_auth
from auth_server.sessions.schemas import Browser as Noted
from auth_server.sessions.service import PASSKEY
from auth_server.settings import AuthSettings
from auth_server.tokens.dependencies import token_services
from control_server.app import create_app as create_control
from control_server.resources import ControlResources
from control_server.resources import open_resources as open_control
from control_server.settings import ControlSettings
from control_server.ways_in import ensure_admin_token, make_session_link
from routeloom.lite.dispatcher import Dispatcher
from routeloom.lite.ports import listen_on_loopback
from shared.kernel.ids import new_uuid
from shared.kernel.principal import Role
from shared.kernel.secrets import digest_of
from shared.testing.waiting import wait_until
from shared.web.server import Server, server_config

PAGE = {"Accept": "text/html"}
CSRF = "t" * 43


@dataclass
class HandClock:
    """Stands still until it is turned."""

    at: datetime = field(default_factory=lambda: datetime(2030, 1, 2, 3, 4, 5, tzinfo=UTC))

    def __call__(self) -> datetime:
        return self.at

    def turn(self, by: timedelta) -> None:
        self.at += by


@dataclass
class Surfer:
    """A browser: keeps cookies, sends the form token, and shows each redirect."""

    http: httpx2.AsyncClient
    origin: str
    cookies: dict[str, str] = field(default_factory=lambda: {"__Host-rl_csrf": CSRF})

    async def ask(self, method: str, address: str, **form: str) -> httpx2.Response:
        headers = {**PAGE, "Cookie": "; ".join(f"{k}={v}" for k, v in self.cookies.items())}
        data = {"csrf_token": CSRF, **form} if method == "POST" else None
        answer = await self.http.request(method, urljoin(self.origin, address), headers=headers, data=data)
        for line in answer.headers.get_list("set-cookie"):
            for name, kept in SimpleCookie(line).items():
                if kept["max-age"] == "0" or not kept.value:
                    self.cookies.pop(name, None)
                else:
                    self.cookies[name] = kept.value
        return answer

    async def get(self, address: str) -> httpx2.Response:
        return await self.ask("GET", address)

    async def post(self, address: str, **form: str) -> httpx2.Response:
        return await self.ask("POST", address, **form)

    async def follow(self, answer: httpx2.Response) -> httpx2.Response:
        """To the end of the redirects."""
        while answer.is_redirect:
            answer = await self.get(answer.headers["location"])
        return answer

    async def sign_in(self, next_page: str = "/") -> httpx2.Response:
        """By the button, with a session at the sign-in service already there; answers the last redirect."""
        return await self.get(await self.callback_of(next_page))

    async def callback_of(self, next_page: str = "/") -> str:
        """The address the browser comes back to, not asked for yet."""
        sent = await self.post("/sign-in", next=next_page)
        back = await self.get(sent.headers["location"])
        return str(back.headers["location"])


@dataclass
class Inner:
    """The same application on another port, for control_server alone."""

    server: uvicorn.Server
    serving: asyncio.Task[None]

    async def stop(self) -> None:
        """From here on connections are refused."""
        self.server.should_exit = True
        await self.serving


@dataclass
class House:
    """Both servers on one port."""

    origin: str
    control_app: FastAPI
    auth_app: FastAPI
    control: ControlResources
    auth: AuthResources
    clock: HandClock
    http: httpx2.AsyncClient
    #: The sign-in service at its internal address.
    inner: "Inner"

    def surfer(self) -> Surfer:
        return Surfer(self.http, self.origin)

    async def account(self, role: Role = Role.ADMIN) -> Account:
        account = Account(
            id=new_uuid(),
            name=f"p{secrets.token_hex(6)}",
            display_name="Ada Example",
            role=role,
            created_at=self.clock(),
            disabled_at=None,
        )
        async with self.auth.database.transaction() as session:
            session.add(account)
        return account

    async def known_there(self, account: Account) -> Surfer:
        """A browser with a session at the sign-in service, begun now."""
        surfer = self.surfer()
        await self.prove(surfer, account)
        return surfer

    async def prove(self, surfer: Surfer, account: Account) -> None:
        """What using a passkey on the sign-in page comes to."""
        async with self.auth.database.transaction() as session:
            sessions = token_services(self.auth_app.state.tokens, session).sessions
            noted = Noted("Firefox/140 Linux", "192.0.2.7")
            cookie = await sessions.sign_in(account, PASSKEY, noted, surfer.cookies.get("__Host-rl_auth"))
        surfer.cookies["__Host-rl_auth"] = cookie

    async def signed_in(self, role: Role = Role.ADMIN) -> Surfer:
        surfer = await self.known_there(await self.account(role))
        answer = await surfer.sign_in()
        assert answer.status_code == 303, answer.text
        return surfer

    async def by_link(self) -> Surfer:
        surfer = self.surfer()
        answer = await surfer.get(urlsplit(await make_session_link(self.control)).path)
        assert answer.status_code == 303
        return surfer

    async def access_token(
        self, role: Role = Role.ADMIN, scope: str = "openid fleet:read", client_id: str = "routeloom-portal"
    ) -> dict[str, Any]:
        """An access token for the API, as a confidential client of ours gets one."""
        surfer = await self.known_there(await self.account(role))
        secret = self.control.settings.client_secret_file.read_text().strip()
        callback = f"{self.origin}/sign-in/callback"
        verifier = secrets.token_urlsafe(48)
        client = AsyncOAuth2Client(
            client_id, secret, scope=scope, redirect_uri=callback, code_challenge_method="S256"
        )
        async with client:
            address, _ = client.create_authorization_url(
                f"{self.origin}/auth/authorize", code_verifier=verifier
            )
            back = await surfer.get(address)
            code = dict(parse_qsl(urlsplit(back.headers["location"]).query))["code"]
            found: dict[str, Any] = await client.fetch_token(
                f"{self.origin}/auth/token", code=code, code_verifier=verifier
            )
        return found

    async def api(self, token: str, path: str = "/api/v1/nodes", method: str = "GET") -> httpx2.Response:
        headers = {"Authorization": f"Bearer {token}"}
        return await self.http.request(method, f"{self.origin}{path}", headers=headers)

    async def change_account(self, account_id: UUID, change: AccountChange) -> None:
        async with self.auth.database.transaction() as session:
            for act in self.auth_app.state.after_account_change:
                await act(session, AccountChanged(account_id, change))

    async def rows(self, statement: str, **values: Any) -> list[Any]:
        async with self.control.database.reading() as session:
            return list((await session.execute(text(statement), values)).all())

    async def session_of(self, surfer: Surfer) -> Any:
        """The row of a browser's session at the portal."""
        digest = digest_of(surfer.cookies["__Host-rl_control"])
        return (await self.rows("SELECT * FROM portal_sessions WHERE digest = :digest", digest=digest))[0]

    async def live_sessions(self, account: Account) -> list[Any]:
        query = "SELECT id FROM portal_sessions WHERE sub = :sub AND ended_at IS NULL"
        return await self.rows(query, sub=str(account.id))

    async def actions(self) -> list[str]:
        return [row[0] for row in await self.rows("SELECT action FROM audit_events ORDER BY id")]

    async def is_in(self, surfer: Surfer) -> bool:
        """Whether the portal knows the browser."""
        return (await surfer.ask("GET", "/api/v1/nodes")).status_code == 200


def control_settings(url: str, directory: Path, origin: str, inner: str) -> ControlSettings:
    return ControlSettings.model_validate(
        {
            "database": {"url": url},
            "state_directory": directory,
            "web": {"public_url": origin},
            "auth_url": inner,
            "sign_in": {"seconds": 2, "failures_per_address": 60},
        }
    )


def auth_settings(url: str, directory: Path, origin: str) -> AuthSettings:
    return AuthSettings.model_validate(
        {"database": {"url": url}, "state_directory": directory, "web": {"public_url": origin}}
    )


def open_inner(app: FastAPI, listeners: list[socket.socket]) -> Inner:
    """The dispatcher keeps the application's lifespan."""
    server = uvicorn.Server(uvicorn.Config(app, lifespan="off", log_config=None, access_log=False))
    return Inner(server, asyncio.create_task(server.serve(sockets=listeners)))


@asynccontextmanager
async def open_house(control_url: str, auth_url: str, directory: Path) -> AsyncIterator[House]:
    """Both, on databases that are migrated."""
    listeners = listen_on_loopback(0)
    inner_listeners = listen_on_loopback(0)
    origin, inside = (f"http://localhost:{of[0].getsockname()[1]}" for of in (listeners, inner_listeners))
    controls = control_settings(control_url, directory, origin, inside)
    auths = auth_settings(auth_url, directory, origin)
    await seed_auth(auths)
    clock = HandClock()
    async with open_control(controls, clock) as control, open_auth(auths, clock) as auth:
        await ensure_admin_token(control)
        control_app, auth_app = create_control(controls, control), create_auth(auths, auth)
        dispatcher = Dispatcher(control_app, auth_app, FastAPI())
        server = Server(server_config(dispatcher, controls.web), dispatcher.go_away)
        serving = asyncio.create_task(server.serve(sockets=listeners))
        async with asyncio.timeout(20):
            await server.ready.wait()
        inner = open_inner(auth_app, inner_listeners)
        await wait_until(lambda: inner.server.started)
        async with httpx2.AsyncClient(trust_env=False, timeout=20) as http:
            try:
                yield House(origin, control_app, auth_app, control, auth, clock, http, inner)
            finally:
                await inner.stop()
                server.should_exit = True
                await serving
                for listener in listeners:
                    listener.close()
