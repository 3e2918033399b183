"""Failures over workers, on Valkey: counted together, ended by themselves, and a tier away is no obstacle."""

from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from shared.cache import Cache, Tier
from shared.cache.breaker import BreakerState
from shared.cache.failures import WINDOW, subject_digest
from shared.cache.throttling import BearerThrottle, SignInThrottle
from shared.kernel.clock import utc_now
from shared.kernel.errors import AppError, Unauthenticated
from shared.testing.servers import KeyValueServer, valkey_server
from shared.testing.waiting import wait_until
from tests.contracts.cache.subjects import Families, open_tier, settings_for

FAMILY = replace(Families(Tier.KV).counters, pattern="failure:<subject>")
LIMIT = 4


@pytest.fixture
async def workers(valkey: KeyValueServer) -> AsyncIterator[list[Cache]]:
    settings = settings_for(valkey.url)
    opened = [open_tier(settings, Tier.KV) for _ in range(2)]
    yield opened
    for cache in opened:
        await cache.aclose()


async def outcome(throttle: SignInThrottle | BearerThrottle, *, fails: bool = True) -> str:
    attempt = (
        throttle.attempt("x") if isinstance(throttle, BearerThrottle) else throttle.attempt({"x": LIMIT})
    )
    try:
        async with attempt:
            if fails:
                raise Unauthenticated
    except AppError as refusal:
        return refusal.code
    return "in"


async def test_attempts_count_over_workers(workers: list[Cache]) -> None:
    here, there = (SignInThrottle.on(cache, FAMILY, utc_now) for cache in workers)
    seen = [await outcome(throttle) for throttle in (here, there, here, there)]
    assert set(seen) == {"unauthenticated"}
    assert [await outcome(throttle, fails=False) for throttle in (here, there)] == ["sign_in_throttled"] * 2
    counted = await workers[0].read_counter(FAMILY.key(subject=subject_digest("x")))
    assert counted is not None
    assert counted.value == LIMIT
    assert 0 < counted.ttl_seconds <= WINDOW.total_seconds()


async def test_bearers_count_over_workers_from_their_next_refusal_on(workers: list[Cache]) -> None:
    here, there = (BearerThrottle.on(cache, FAMILY, utc_now, LIMIT) for cache in workers)
    for throttle in (here, here, here, there):
        assert await outcome(throttle) == "unauthenticated"
    assert await outcome(there, fails=False) == "sign_in_throttled"
    assert await outcome(here, fails=False) == "in"
    assert await outcome(here) == "unauthenticated"
    assert await outcome(here, fails=False) == "sign_in_throttled"


async def test_a_good_bearer_asks_the_tier_nothing(workers: list[Cache]) -> None:
    throttle = BearerThrottle.on(workers[0], FAMILY, utc_now, LIMIT)
    for _ in range(10):
        await outcome(throttle, fails=False)
    assert await workers[1].scan_count(FAMILY) == 0


@pytest.mark.parametrize("kind", [SignInThrottle, BearerThrottle])
async def test_without_the_tier_each_worker_goes_by_its_own_and_by_all_again_afterwards(
    kind: type[SignInThrottle | BearerThrottle], tmp_path: Path
) -> None:
    with valkey_server(tmp_path / "own") as server:
        caches = [open_tier(settings_for(server.url, namespace="t"), Tier.KV) for _ in range(2)]
        here, there = (
            SignInThrottle.on(cache, FAMILY, utc_now)
            if kind is SignInThrottle
            else BearerThrottle.on(cache, FAMILY, utc_now, LIMIT)
            for cache in caches
        )
        assert await outcome(here) == "unauthenticated"
        server.stop()
        for _ in range(LIMIT - 1):
            assert await outcome(here) == "unauthenticated"
        assert await outcome(here) == "sign_in_throttled"
        assert await outcome(there) == "unauthenticated"
        server.start()
        for cache in caches:
            await wait_until(lambda cache=cache: _answers(cache))  # type: ignore[misc]
        assert await outcome(there) == "unauthenticated"
        assert await outcome(here) == "sign_in_throttled"
        for cache in caches:
            assert cache.breaker.state is BreakerState.CLOSED
            await cache.aclose()


async def _answers(cache: Cache) -> bool:
    try:
        await cache.server_time()
    except Exception:  # noqa: BLE001 - it is asked again
        return False
    return True
