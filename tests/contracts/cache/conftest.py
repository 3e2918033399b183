from collections.abc import AsyncIterator

import pytest

from shared.cache import Tier
from shared.testing.servers import KeyValueServer
from tests.contracts.cache.subjects import Subject, opened

SERVERS = {Tier.KV: "valkey", Tier.CACHE: "redis"}


@pytest.fixture(params=list(SERVERS))
def tier(request: pytest.FixtureRequest) -> Tier:
    chosen: Tier = request.param
    return chosen


@pytest.fixture
def server(tier: Tier, request: pytest.FixtureRequest) -> KeyValueServer:
    running: KeyValueServer = request.getfixturevalue(SERVERS[tier])
    return running


@pytest.fixture
async def subject(server: KeyValueServer, tier: Tier) -> AsyncIterator[Subject]:
    async with opened(server.url, tier) as opening:
        await opening.server.open()
        yield opening
