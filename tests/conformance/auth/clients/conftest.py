"""auth_server on a loopback port, for clients that are programs of their own."""

import asyncio
import socket
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager

import pytest
import pytest_asyncio
import uvicorn

from shared.kernel.clock import utc_now
from shared.testing.servers import PostgresServer
from tests.conformance.auth.provider.provider import Provider, fill, open_provider


@pytest.fixture(scope="session", params=["sqlite", "postgresql"])
def database_url(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    if request.param == "sqlite":
        yield f"sqlite:///{tmp_path_factory.mktemp('clients') / 'auth.db'}"
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


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def provider(database_url: str, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Provider]:
    directory = tmp_path_factory.mktemp("state")
    with socket.create_server(("127.0.0.1", 0)) as listener:
        origin = f"http://localhost:{listener.getsockname()[1]}"
        await fill(database_url, directory, origin)
        async with open_provider(database_url, directory, origin) as opened, served(opened, listener):
            opened.clock.at = utc_now()
            yield opened
