"""What a frozen tier costs: time to fallback, and a cached read with a dead tier against one with no tier.

    python -m tests.benchmarks.bench_degraded

Goals: the deadline and at most 10 ms more; at most 1.2 times. The read behind the cache is one SELECT on
SQLite. The median counts: the slowest call of a busy machine says more about the machine.
"""

import asyncio
import statistics
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import aiosqlite

from shared.cache import Cache, Key, Tier, TierSettings, TierUnavailable, open_cache
from shared.cache.breaker import BreakerState
from shared.testing.servers import KeyValueServer, redis_server, valkey_server
from tests.contracts.cache.subjects import Families

SERVERS = {Tier.KV: valkey_server, Tier.CACHE: redis_server}
FALLBACKS, ROUNDS, READS = 30, 9, 400
FALLBACK_GOAL = timedelta(milliseconds=10)
RATIO_GOAL = 1.2


async def seconds_to_fallback(cache: Cache, key: Key) -> float:
    """The median of calls to a server that accepts and never answers."""
    took = []
    for _ in range(FALLBACKS):
        cache.breaker.recover("benchmark")
        began = time.perf_counter()
        try:
            await cache.get_json(key)
        except TierUnavailable:
            took.append(time.perf_counter() - began)
    return statistics.median(took)


async def opened_breaker(cache: Cache, key: Key) -> None:
    """Let calls fail until the breaker is open."""
    while cache.breaker.state is not BreakerState.OPEN:
        try:
            await cache.get_json(key)
        except TierUnavailable:
            continue


async def seconds_of_reads(cache: Cache, key: Key, load: Callable[[], Awaitable[Any]]) -> float:
    began = time.perf_counter()
    for _ in range(READS):
        await cache.get_or_load(key, load, ttl_seconds=60)
    return time.perf_counter() - began


async def ratio_to_none(dead: Cache, key: Key) -> float:
    """Rounds of both in turn, so that what else the machine does falls on both alike."""
    absent = Cache.unconfigured(dead.tier)
    async with aiosqlite.connect(":memory:") as database:

        async def load() -> Any:
            async with database.execute("SELECT 1") as cursor:
                return await cursor.fetchone()

        pairs = []
        for _ in range(ROUNDS):
            await opened_breaker(dead, key)
            pairs.append([await seconds_of_reads(cache, key, load) for cache in (dead, absent)])
    return statistics.median(first / second for first, second in pairs)


async def measure(tier: Tier, server: KeyValueServer) -> bool:
    cache = open_cache(TierSettings(url=server.url), tier, "benchmark", 1)
    key = Families(tier).values.key(id=1)
    server.pause()
    try:
        late = await seconds_to_fallback(cache, key) - cache.gateway.deadline.total_seconds()
        ratio = await ratio_to_none(cache, key)
    finally:
        server.resume()
        await cache.aclose()
    print(f"{tier}: fallback {late * 1000:.1f} ms after the deadline, goal 10 ms")
    print(f"{tier}: cached read, dead tier against none: {ratio:.2f} times, goal {RATIO_GOAL}")
    return late <= FALLBACK_GOAL.total_seconds() and ratio <= RATIO_GOAL


def main() -> int:
    met = []
    with tempfile.TemporaryDirectory() as directory:
        for tier, start in SERVERS.items():
            with start(Path(directory) / tier) as server:
                met.append(asyncio.run(measure(tier, server)))
    return 0 if all(met) else 1


if __name__ == "__main__":
    sys.exit(main())
