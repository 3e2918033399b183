"""One server for each database and all tests: each test brings its own people, and time only goes on."""

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
import pytest_asyncio

from shared.cache.failures import ProcessCounter
from shared.testing.servers import PostgresServer
from tests.conformance.auth.provider.provider import Person, Provider, fill, open_provider


@pytest.fixture(scope="session", params=["sqlite", "postgresql"])
def database(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[str, Path]]:
    """A database and the state directory that belongs to it."""
    directory = tmp_path_factory.mktemp(f"provider-{request.param}")
    if request.param == "sqlite":
        yield f"sqlite:///{directory / 'auth.db'}", directory
        return
    postgres: PostgresServer = request.getfixturevalue("postgres")
    with postgres.database() as url:
        yield url, directory


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def provider(database: tuple[str, Path]) -> AsyncIterator[Provider]:
    url, directory = database
    await fill(url, directory)
    async with open_provider(url, directory) as opened:
        yield opened


@pytest.fixture(autouse=True)
def forgives_the_address(request: pytest.FixtureRequest) -> None:
    """All tests ask from one address: what one of them failed at must not shut out the next."""
    if "provider" in request.fixturenames:
        state = request.getfixturevalue("provider").app.state
        for throttle in (state.throttle, state.device_throttle):
            for counter in throttle.counters:
                if isinstance(counter, ProcessCounter):
                    counter.forget()


@pytest_asyncio.fixture(loop_scope="session")
async def ada(provider: Provider) -> Person:
    """An administrator who is signed in."""
    return await provider.person()
