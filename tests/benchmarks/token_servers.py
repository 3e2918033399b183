"""The servers of `bench_token`: ours as it is served, and npm oidc-provider, each on one core."""

from __future__ import annotations

import asyncio
import base64
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, cast
from urllib.parse import parse_qs, urlsplit

import httpx2

from auth_server.accounts.models import Account
from auth_server.app import create_app
from auth_server.clients.schemas import ClientRegistration
from auth_server.commands import seed
from auth_server.passkeys import rules
from auth_server.passkeys.models import RecoveryCode
from auth_server.passkeys.service.hashing import SlowHashes
from auth_server.resources import AuthResources, open_resources
from auth_server.sessions.dependencies import SESSION_COOKIE
from auth_server.sessions.schemas import Browser
from auth_server.sessions.service import PASSKEY
from auth_server.settings import AuthSettings
from auth_server.tokens.dependencies import token_services
from shared.database import open_database
from shared.database.migrations import upgrade
from shared.kernel.ids import new_uuid, short_id
from shared.kernel.principal import Role
from shared.testing.servers.ports import free_loopback_port
from shared.web import csrf
from tests.benchmarks.http_load import Connection, get
from tests.conformance.auth.provider.provider import Pkce
from tests.conformance.auth.targets.peer import NODE, PEERS

#: The server's core; whatever asks and whatever stores has the others.
CORE = "0"
SECRET = "made-up-for-the-measurement"
ADDRESS = "https://house.example/cb"
SCOPE = "openid profile offline_access fleet:read"
PEOPLE = 50
CODES_AT_ONCE = 8


def basic(client_id: str) -> dict[str, str]:
    return {"Authorization": "Basic " + base64.b64encode(f"{client_id}:{SECRET}".encode()).decode()}


@dataclass
class Served:
    """A running server and a browser of somebody who is signed in there."""

    name: str
    pid: int
    origin: str
    token: str
    authorization: str
    cookies: dict[str, str]
    #: The name and the recovery code of people who can sign in, where the server has such.
    people: list[tuple[str, str]]

    async def codes(self, number: int) -> list[tuple[str, Pkce]]:
        """Fresh authorization codes."""
        found: list[tuple[str, Pkce]] = []
        cookie = "; ".join(f"{name}={value}" for name, value in self.cookies.items())

        async def work(client: httpx2.AsyncClient) -> None:
            while len(found) < number:
                pkce = Pkce()
                sent = {
                    "response_type": "code",
                    "client_id": "house",
                    "redirect_uri": ADDRESS,
                    "scope": SCOPE,
                    "code_challenge": pkce.challenge,
                    "code_challenge_method": "S256",
                }
                answer = await client.get(self.authorization, params=sent, headers={"Cookie": cookie})
                location = answer.headers.get("location", "")
                assert location.startswith(ADDRESS), (answer.status_code, location, answer.text)
                found.append((parse_qs(urlsplit(location).query)["code"][0], pkce))

        async with httpx2.AsyncClient() as client:
            await asyncio.gather(*(work(client) for _ in range(CODES_AT_ONCE)))
        return found[:number]


@contextmanager
def process(command: list[str | Path], core: str = CORE, **options: Any) -> Iterator[subprocess.Popen[bytes]]:
    """A process on one core, gone when the block ends."""
    started = subprocess.Popen(["taskset", "-c", core, *map(str, command)], **options)
    try:
        yield started
    finally:
        started.terminate()
        started.wait(30)


async def answers(origin: str, path: str) -> None:
    """Wait until the server is there."""
    async with asyncio.timeout(60):
        while True:
            try:
                connection = await Connection.open(origin)
                await connection.send(get(f"{origin}{path}"))
            except OSError:
                await asyncio.sleep(0.05)
            else:
                connection.close()
                return


async def _fill(resources: AuthResources, settings: AuthSettings) -> tuple[str, list[tuple[str, str]]]:
    """Two clients, somebody who is signed in, and people with a recovery code each."""
    app = create_app(settings, resources)
    secret = short_id(12)
    [digest] = await SlowHashes().hash_all([secret])
    people = []
    async with app.router.lifespan_context(app), resources.database.transaction() as session:
        services = token_services(app.state.tokens, session)
        house = {"client_id": "house", "name": "House", "first_party": True, "redirect_uris": [ADDRESS]}
        robot = {"client_id": "robot", "name": "Robot", "role": "operator", "scopes": ["fleet:read"]}
        for wanted in (
            {**house, "scopes": SCOPE.split()},
            {**robot, "grant_types": ["client_credentials"]},
        ):
            await services.clients.register(ClientRegistration.model_validate(wanted), SECRET)
        now = datetime.now(UTC)
        for number in range(PEOPLE + 1):
            name, role = f"person-{number}", Role.OPERATOR
            account = Account(
                id=new_uuid(), name=name, display_name=name, role=role, created_at=now, disabled_at=None
            )
            session.add(account)
            await session.flush()
            selector = short_id(4)
            row = {"id": new_uuid(), "account_id": account.id, "selector": selector, "hash": digest}
            session.add(RecoveryCode(**row, created_at=now, used_at=None))
            people.append((name, rules.shown_code(selector + secret)))
        cookie = await services.sessions.begin(account, PASSKEY, Browser("measurement", "127.0.0.1"))
    return cookie, people[:-1]


async def _prepare(settings: AuthSettings) -> tuple[str, list[tuple[str, str]]]:
    database = open_database(settings.database)
    await upgrade(database, "auth_server")
    await database.close()
    await seed(settings)
    async with open_resources(settings) as resources:
        return await _fill(resources, settings)


@contextmanager
def ours(name: str, database_url: str, kv_url: str | None, directory: Path) -> Iterator[Served]:
    """`python -m auth_server serve`, one worker, as it is installed."""
    port = free_loopback_port()
    origin = f"http://localhost:{port}"
    directory.mkdir()
    told = {
        "ROUTELOOM_AUTH_DATABASE__URL": database_url,
        "ROUTELOOM_AUTH_STATE_DIRECTORY": str(directory),
        "ROUTELOOM_AUTH_WEB__PUBLIC_URL": origin,
        "ROUTELOOM_AUTH_WEB__PORT": str(port),
        "ROUTELOOM_AUTH_KV__URL": kv_url or "",
        # A code that the tier does not give in time is refused, and on a busy machine a quarter of a second
        # is not time enough.
        "ROUTELOOM_AUTH_KV__DEADLINE": "PT10S",
        "REDIS_URL": f"{kv_url}/7" if kv_url else "",
        # The peer writes no line for each request.
        "ROUTELOOM_AUTH_WEB__LOG_LEVEL": "WARNING",
        # Everybody comes from one address here, and attempts count while they last.
        "ROUTELOOM_AUTH_SIGN_IN__FAILURES_PER_ADDRESS": "1000",
    }
    os.environ.update(told)
    cookie, people = asyncio.run(_prepare(AuthSettings()))
    command: list[str | Path] = [sys.executable, "-m", "auth_server", "serve"]
    with (directory / "log").open("wb") as log, process(command, stdout=log, stderr=log) as server:
        asyncio.run(answers(f"http://127.0.0.1:{port}", "/healthz"))
        yield Served(
            name=name,
            pid=server.pid,
            origin=f"http://127.0.0.1:{port}",
            token=f"http://127.0.0.1:{port}/auth/token",
            authorization=f"http://127.0.0.1:{port}/auth/authorize",
            cookies={SESSION_COOKIE: cookie, csrf.COOKIE: "x" * 43},
            people=people,
        )


@contextmanager
def floor(name: str) -> Iterator[Served]:
    """A bare route that only signs; nobody can sign in there."""
    port = free_loopback_port()
    origin = f"http://127.0.0.1:{port}"
    command: list[str | Path] = [sys.executable, "-m", "tests.benchmarks.token_floor", str(port)]
    with process(command) as server:
        asyncio.run(answers(origin, "/"))
        yield Served(
            name=name,
            pid=server.pid,
            origin=origin,
            token=f"{origin}/token",
            authorization="",
            cookies={},
            people=[],
        )


def _registrations() -> list[dict[str, object]]:
    house = {
        "client_id": "house",
        "redirect_uris": [ADDRESS],
        "grant_types": ["authorization_code", "refresh_token"],
        "id_token_signed_response_alg": "ES256",
        "trusted": True,
    }
    robot = {
        "client_id": "robot",
        "redirect_uris": [],
        "response_types": [],
        "grant_types": ["client_credentials"],
    }
    return [{**each, "client_secret": SECRET} for each in (house, robot)]


async def _sign_in(origin: str) -> dict[str, str]:
    """One person's cookies there."""
    pkce = Pkce()
    sent = {
        "response_type": "code",
        "client_id": "house",
        "redirect_uri": ADDRESS,
        "scope": SCOPE,
        "code_challenge": pkce.challenge,
        "code_challenge_method": "S256",
    }
    async with httpx2.AsyncClient(base_url=origin) as browser:
        asked = await browser.get("/auth", params=sent)
        done = await browser.post(asked.headers["location"], data={"account": "ada"})
        back = await browser.get(done.headers["location"])
        assert back.headers["location"].startswith(ADDRESS), back.text
        return {name: value for name, value in browser.cookies.items() if name.startswith("_session")}


@contextmanager
def theirs(name: str, valkey_url: str | None) -> Iterator[Served]:
    """npm oidc-provider with tokens of the same kind and signature."""
    told = {
        "clients": _registrations(),
        "valkey": valkey_url,
        "audience": "https://loom.example/api",
        "refreshAlways": True,
    }
    command: list[str | Path] = [NODE, PEERS / "oidc_provider.mjs", json.dumps(told)]
    with process(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, cwd=PEERS) as server:
        assert server.stdout is not None
        origin = cast("str", json.loads(server.stdout.readline())["issuer"])
        yield Served(
            name=name,
            pid=server.pid,
            origin=origin,
            token=f"{origin}/token",
            authorization=f"{origin}/auth",
            cookies=asyncio.run(_sign_in(origin)),
            people=[],
        )
