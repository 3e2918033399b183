"""The tier of Lite: not there, and said at once."""

import asyncio
import inspect
from typing import Any

import pytest

from shared.cache import (
    Cache,
    OutcomeUnknown,
    Reason,
    Tier,
    TierProber,
    TierSettings,
    TierState,
    TierUnavailable,
    healthz,
    open_cache,
)
from shared.kernel.errors import Kind
from tests.contracts.cache.subjects import Families
from tests.faults.cache.test_frozen import READS, WRITES

NO_OPERATION = {
    "unconfigured",
    "configured",
    "breaker",
    "gateway",
    "aclose",
    "subscribe",
    "get_or_load",
    "names",
}


@pytest.fixture(params=list(Tier))
def cache(request: pytest.FixtureRequest) -> Cache:
    return open_cache(TierSettings(), request.param, "tests", 1)


@pytest.mark.parametrize("name", [*READS, *WRITES])
async def test_every_operation_says_so_at_once(cache: Cache, name: str) -> None:
    assert not cache.configured
    with pytest.raises(TierUnavailable) as raised:
        await (READS | WRITES)[name](cache, Families(cache.tier))
    assert raised.value.reason is Reason.NOT_CONFIGURED
    assert raised.value.kind is Kind.UNAVAILABLE
    assert not isinstance(raised.value, OutcomeUnknown)


def test_no_operation_is_left_out() -> None:
    operations = {name for name, _ in inspect.getmembers(Cache) if not name.startswith("_")} - NO_OPERATION
    assert operations == READS.keys() | WRITES.keys()


async def test_subscribing_fails_likewise(cache: Cache) -> None:
    with pytest.raises(TierUnavailable):
        async with cache.subscribe(Families(cache.tier).channels.key(id=1)):
            pytest.fail("subscribed to nothing")


async def test_get_or_load_loads_once_at_a_time(cache: Cache) -> None:
    loads = 0

    async def load() -> Any:
        nonlocal loads
        loads += 1
        await asyncio.sleep(0)
        return "from SQL"

    key = Families(cache.tier).values.key(id=1)
    asked = await asyncio.gather(*(cache.get_or_load(key, load, ttl_seconds=60) for _ in range(50)))
    assert asked == ["from SQL"] * 50
    assert loads == 1
    await cache.get_or_load(key, load, ttl_seconds=60)
    assert loads == 2


async def test_health_calls_it_absent_and_well(cache: Cache) -> None:
    prober = TierProber(cache)
    await prober.probe_once()
    assert prober.health.state is TierState.ABSENT
    answer = healthz(prober.health)
    assert (answer.http_status, answer.body["status"]) == (200, "ok")
    assert answer.body["tiers"] == {cache.tier.value: {"state": "absent"}}
    await prober.aclose()
    await cache.aclose()
