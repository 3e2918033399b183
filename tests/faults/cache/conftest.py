from collections.abc import Iterator

import pytest

from shared.cache import Tier
from shared.testing.servers import KeyValueServer, redis_server, valkey_server

SERVERS = {Tier.KV: valkey_server, Tier.CACHE: redis_server}


@pytest.fixture(params=list(SERVERS), scope="module")
def tier(request: pytest.FixtureRequest) -> Tier:
    chosen: Tier = request.param
    return chosen


@pytest.fixture(scope="module")
def module_server(tier: Tier, tmp_path_factory: pytest.TempPathFactory) -> Iterator[KeyValueServer]:
    with SERVERS[tier](tmp_path_factory.mktemp(f"{tier}-faults")) as running:
        yield running


@pytest.fixture
def server(module_server: KeyValueServer) -> Iterator[KeyValueServer]:
    """A server that may be frozen, stopped and spoilt: the next test finds it running."""
    yield module_server
    module_server.resume()
    module_server.start()
