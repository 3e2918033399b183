from collections.abc import AsyncIterator, Iterator

import pytest
import pytest_asyncio

from shared.cache import Tier
from shared.testing.servers import KeyValueServer, PostgresServer, valkey_server
from tests.conformance.auth.targets.ours import Ours, open_ours
from tests.integration.keyspace import hold_keyspace


@pytest.fixture(scope="session")
def weathered(tmp_path_factory: pytest.TempPathFactory) -> Iterator[KeyValueServer]:
    """A server of these tests alone, since it goes away."""
    with valkey_server(tmp_path_factory.mktemp("weather")) as server:
        yield server


@pytest.fixture
def kv(weathered: KeyValueServer) -> Iterator[KeyValueServer]:
    weathered.start()
    yield weathered
    weathered.start()
    hold_keyspace(weathered, Tier.KV)


@pytest.fixture(scope="session", params=["sqlite", "postgresql"])
def database_url(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    if request.param == "sqlite":
        yield f"sqlite:///{tmp_path_factory.mktemp('weather') / 'auth.db'}"
        return
    postgres: PostgresServer = request.getfixturevalue("postgres")
    with postgres.database() as url:
        yield url


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def ours(
    database_url: str, weathered: KeyValueServer, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Ours]:
    directory = tmp_path_factory.mktemp("state")
    async with open_ours(database_url, directory, weathered.url) as opened:
        yield opened
