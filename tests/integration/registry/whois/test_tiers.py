"""The tier is no part of an answer: dead, frozen or full, whois goes on and sees each sync."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from shared.testing.servers import KeyValueServer, redis_server
from tests.integration.registry.clients import Wire
from tests.integration.registry.conftest import Registries
from tests.integration.registry.network import route
from tests.integration.registry.serving import serving
from tests.integration.registry.upstream import Upstream

pytestmark = pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)


@pytest.fixture(scope="module")
def own_redis(tmp_path_factory: pytest.TempPathFactory) -> Iterator[KeyValueServer]:
    with redis_server(tmp_path_factory.mktemp("redis")) as server:
        yield server


@pytest.mark.parametrize("fault", ["frozen", "dead"])
async def test_a_sync_is_seen_without_the_tier(
    registries: Registries, upstream: Upstream, own_redis: KeyValueServer, fault: str, tmp_path: Path
) -> None:
    tier = {"url": own_redis.url, "namespace": f"t{id(tmp_path)}", "deadline": "PT0.2S"}
    async with serving(registries, upstream, cache=tier) as served, await Wire.to(served.whois) as wire:
        wire.send(b"!!\n")
        await wire.ask(b"!gAS4242429904\n", b"D\n")
        (own_redis.pause if fault == "frozen" else own_redis.stop)()
        try:
            await served.commit({"data/route/172.20.9.0_24": route("172.20.9.0/24", 4242429904)})
            await wire.ask(b"!gAS4242429904\n", b"A14\n172.20.9.0/24\nC\n")
        finally:
            (own_redis.resume if fault == "frozen" else own_redis.start)()
