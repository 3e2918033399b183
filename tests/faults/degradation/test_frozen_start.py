"""A service that starts while its tiers accept connections and never answer."""

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

from shared.testing.servers import KeyValueServer, redis_server, valkey_server
from shared.testing.waiting import wait_until
from tests.integration.control.probes.stage import HandClock, Stage, prepare, serving
from tests.integration.control.workers.pair import on_tiers


@pytest.fixture
def frozen(tmp_path: Path) -> Iterator[tuple[KeyValueServer, KeyValueServer]]:
    with valkey_server(tmp_path / "kv") as kv, redis_server(tmp_path / "cache") as cache:
        for server in (kv, cache):
            server.pause()
        yield kv, cache
        for server in (kv, cache):
            server.resume()


async def health(stage: Stage, status: int) -> bool:
    return (await stage.client.get("/healthz")).status_code == status


async def test_a_service_starts_and_answers_while_both_tiers_are_frozen(
    frozen: tuple[KeyValueServer, KeyValueServer], tmp_path: Path
) -> None:
    prepared = await prepare(f"sqlite:///{tmp_path / 'control.db'}")
    settings = on_tiers(prepared, tmp_path, *(server.url for server in frozen))
    async with serving(settings, HandClock(), prepared) as stage:
        assert (await stage.client.get("/readyz")).status_code == 200
        async with stage.agent("alpha") as agent:
            await agent.heartbeat()
            read = await asyncio.gather(*(stage.request("GET", "/api/v1/nodes") for _ in range(10)))
            assert [answer.status_code for answer in read] == [200] * 10
        await wait_until(lambda: health(stage, 503))
        for server in frozen:
            server.resume()
        await wait_until(lambda: health(stage, 200))
