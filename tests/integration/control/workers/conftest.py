from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from shared.cache import Tier
from shared.testing.servers import KeyValueServer, redis_server, valkey_server
from tests.integration.control.probes.conftest import (  # noqa: F401 - fixtures
    clock,
    on_postgres,
    on_sqlite,
    postgres_template,
    sqlite_template,
)
from tests.integration.control.probes.stage import HandClock, Prepared
from tests.integration.control.workers.pair import Pair, on_tiers, two_workers
from tests.integration.keyspace import hold_keyspace


@pytest.fixture(scope="session")
def kv_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[KeyValueServer]:
    """Our own, because the tests here freeze it, empty it and stop it."""
    with valkey_server(tmp_path_factory.mktemp("workers-kv")) as server:
        yield server


@pytest.fixture(scope="session")
def cache_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[KeyValueServer]:
    with redis_server(tmp_path_factory.mktemp("workers-cache")) as server:
        yield server


@pytest.fixture
def kv(kv_server: KeyValueServer) -> Iterator[KeyValueServer]:
    kv_server.start()
    kv_server.flush()
    yield kv_server
    kv_server.resume()
    kv_server.start()
    hold_keyspace(kv_server, Tier.KV)


@pytest.fixture
def cache(cache_server: KeyValueServer) -> Iterator[KeyValueServer]:
    cache_server.start()
    cache_server.flush()
    yield cache_server
    cache_server.resume()
    cache_server.start()
    hold_keyspace(cache_server, Tier.CACHE)


@pytest.fixture
async def pair(
    on_postgres: Prepared,  # noqa: F811
    kv: KeyValueServer,
    cache: KeyValueServer,
    clock: HandClock,  # noqa: F811
    tmp_path: Path,
) -> AsyncIterator[Pair]:
    """Two workers with object graphs of their own on one database and one pair of tiers."""
    settings = on_tiers(on_postgres, tmp_path, kv.url, cache.url)
    async with two_workers(settings, clock, on_postgres) as workers:
        yield workers
