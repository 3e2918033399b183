"""Nothing that the description of the interface allows, or nearly allows, is more than the server can take:
schemathesis reads it and hunts for answers of 500 and above. Rows D3 and N13.
"""

import asyncio
import secrets
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from auth_server.accounts.models import Account
from auth_server.clients.dependencies import client_service
from auth_server.clients.schemas import ClientRegistration
from auth_server.clients.store import FailedSecrets
from auth_server.resources import open_resources
from auth_server.sessions.dependencies import SESSION_COOKIE
from auth_server.sessions.schemas import Browser
from auth_server.sessions.service import PASSKEY
from auth_server.tokens.dependencies import parts_alone, token_services
from shared.kernel.clock import utc_now
from shared.kernel.ids import new_uuid
from shared.kernel.principal import Role
from shared.web import csrf
from tests.conformance.auth.people.served import Served, elsewhere, serving

CSRF = "t" * 43
#: What ends the session that asks; the rest would only be told that nobody is signed in.
ENDS_ITSELF = "/(sessions|sign-out|recovery|accept)"
CLIENT, SECRET = "fuzzer", "fuzzer-secret"


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with serving(tmp_path_factory.mktemp("described")) as opened:
        elsewhere(register(opened))
        yield opened


async def register(served: Served) -> None:
    wanted = {
        "client_id": CLIENT,
        "name": "Fuzzer",
        "redirect_uris": ["https://fuzzer.example/cb"],
        "grant_types": ["authorization_code", "client_credentials", "refresh_token"],
        "role": "viewer",
        "scopes": ["openid", "fleet:read"],
    }
    async with open_resources(served.settings) as resources, resources.database.transaction() as session:
        clients = client_service(resources, session, FailedSecrets())
        await clients.register(ClientRegistration.model_validate(wanted), SECRET)


async def sign_in(served: Served) -> str:
    """The cookies of an administrator who has just signed in."""
    async with open_resources(served.settings) as resources, resources.database.transaction() as session:
        account = Account(
            id=new_uuid(),
            name=f"p{secrets.token_hex(6)}",
            display_name="Ada Example",
            role=Role.ADMIN,
            created_at=utc_now(),
            disabled_at=None,
        )
        session.add(account)
        await session.flush()
        sessions = token_services(parts_alone(resources), session).sessions
        cookie = await sessions.begin(account, PASSKEY, Browser("Firefox/140 Linux", "192.0.2.7"))
    return f"{SESSION_COOKIE}={cookie}; {csrf.COOKIE}={CSRF}"


async def hunt(served: Served, home: Path, *options: str) -> None:
    process = await asyncio.create_subprocess_exec(
        str(Path(sys.executable).with_name("schemathesis")),
        *("run", f"{served.origin}/auth/openapi.json"),
        *(
            "--checks",
            "not_a_server_error",
            "--max-examples",
            "3",
            "--max-time",
            "18",
            "--phases",
            "coverage,fuzzing",
        ),
        *("--generation-database", "none", "--seed", "42", "--mode", "all", *options),
        cwd=home,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    said, _ = await asyncio.wait_for(process.communicate(), 400)
    assert process.returncode == 0, said.decode()


async def test_d3_n13_nothing_from_outside_is_too_much(served: Served, tmp_path: Path) -> None:
    await hunt(
        served, tmp_path, "--include-path-regex", "/auth/(token|par|device|revoke|introspect|userinfo)"
    )


async def test_d3_nothing_from_a_client_is_too_much(served: Served, tmp_path: Path) -> None:
    paths = ("--include-path-regex", "/auth/(token|par|revoke|introspect)")
    await hunt(served, tmp_path, *paths, "--auth", f"{CLIENT}:{SECRET}")


async def test_n13_nothing_from_an_administrator_is_too_much(served: Served, tmp_path: Path) -> None:
    cookies = elsewhere(sign_in(served))
    headers = ("--header", f"Cookie: {cookies}", "--header", f"X-CSRF-Token: {CSRF}")
    await hunt(served, tmp_path, *headers, "--exclude-path-regex", ENDS_ITSELF)
