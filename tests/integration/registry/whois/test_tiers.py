"""The tier is no part of an answer: dead, frozen or full, whois goes on and sees each sync."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from shared.testing.servers import KeyValueServer, redis_server
from tests.integration.registry.clients import Wire, run
from tests.integration.registry.conftest import Registries
from tests.integration.registry.network import route
from tests.integration.registry.serving import serving
from tests.integration.registry.upstream import Upstream

pytestmark = pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)


@pytest.fixture(scope="module")
def own_redis(tmp_path_factory: pytest.TempPathFactory) -> Iterator[KeyValueServer]:
    with redis_server(tmp_path_factory.mktemp("redis")) as server:
        yield server


@pytest.mark.parametrize("fault", ["frozen", "dead", "full"])
async def test_a_sync_is_seen_without_the_tier(
    registries: Registries, upstream: Upstream, own_redis: KeyValueServer, fault: str, tmp_path: Path
) -> None:
    tier = {"url": own_redis.url, "namespace": f"t{id(tmp_path)}", "deadline": "PT0.2S"}
    async with serving(registries, upstream, cache=tier) as served, await Wire.to(served.whois) as wire:
        wire.send(b"!!\n")
        await wire.ask(b"!gAS4242429904\n", b"D\n")
        await _spoil(own_redis, fault)
        try:
            await served.commit({"data/route/172.20.9.0_24": route("172.20.9.0/24", 4242429904)})
            await wire.ask(b"!gAS4242429904\n", b"A14\n172.20.9.0/24\nC\n")
        finally:
            await _mend(own_redis, fault)


async def _spoil(server: KeyValueServer, fault: str) -> None:
    if fault == "full":
        await _tell(server, "maxmemory-policy", "noeviction")
        await _tell(server, "maxmemory", "1")
        refused = await run("redis-cli", "-p", str(server.port), "SET", "anything", "1")
        assert "OOM" in refused.output
    else:
        (server.pause if fault == "frozen" else server.stop)()


async def _mend(server: KeyValueServer, fault: str) -> None:
    if fault == "full":
        await _tell(server, "maxmemory", "0")
    else:
        (server.resume if fault == "frozen" else server.start)()


async def _tell(server: KeyValueServer, name: str, value: str) -> None:
    told = await run("redis-cli", "-p", str(server.port), "CONFIG", "SET", name, value)
    assert told.output.strip() == "OK", told
