"""Hits, misses, a stampede of a thousand and a dead server, beside cashews and aiocache.

    python -m tests.benchmarks.bench_cache

One process each, one after the other, on the same Redis; the peers run in an environment of their own that is
made on first use from requirements/peers-cache.txt. Rates are calls a second, one at a time; `loads` is how
often the value was computed for a thousand callers at once.
"""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from shared.cache import Cache, Tier, TierSettings, open_cache
from shared.testing.servers import redis_server
from shared.testing.servers.ports import free_loopback_port
from tests.benchmarks.peers import python_of
from tests.contracts.cache.subjects import DATABASE, Families

READS, STAMPEDE = 3000, 1000
VALUE = {"node": "alpha", "numbers": list(range(20))}


def opened(url: str) -> Cache:
    settings = TierSettings.model_validate({"url": url, "deadline": "PT2S"})
    return open_cache(settings, Tier.CACHE, "benchmark", DATABASE)


async def rate(work: Callable[[int], Awaitable[Any]], count: int) -> float:
    began = time.perf_counter()
    for number in range(count):
        await work(number)
    return count / (time.perf_counter() - began)


async def ours(url: str, dead: str) -> dict[str, float]:
    family = Families(Tier.CACHE).values
    cache, away = opened(url), opened(dead)
    loads = 0

    async def load() -> Any:
        nonlocal loads
        loads += 1
        await asyncio.sleep(0.02)
        return VALUE

    async def spare() -> Any:
        return VALUE

    hit = family.key(id="hit")
    await cache.set_json(hit, VALUE, ttl_seconds=60)
    rates = {
        "hit": await rate(lambda _: cache.get_json(hit), READS),
        "miss": await rate(lambda number: cache.get_json(family.key(id=f"m{number}")), READS),
    }
    stampede = family.key(id="stampede")
    await asyncio.gather(*(cache.get_or_load(stampede, load, ttl_seconds=60) for _ in range(STAMPEDE)))
    rates["loads"] = loads
    rates["dead"] = await rate(lambda _: away.get_or_load(hit, spare, ttl_seconds=60), READS // 10)
    await cache.aclose()
    await away.aclose()
    return rates


def peers(url: str, dead: str) -> dict[str, dict[str, float]]:
    script = str(Path(__file__).with_name("cache_peers.py"))
    command = [str(python_of("cache")), script, url, dead, str(READS), str(STAMPEDE)]
    answer = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    found: dict[str, dict[str, float]] = json.loads(answer.splitlines()[-1])
    return found


def main() -> int:
    with tempfile.TemporaryDirectory() as directory, redis_server(Path(directory)) as server:
        dead = f"redis://{server.host}:{free_loopback_port()}"
        mine = asyncio.run(ours(server.url, dead))
        rates = {"ours": mine, **peers(server.url, dead)}
    print(
        f"{'':9}" + "".join(f"{part:>10}{'ratio':>7}" for part in ("hit", "miss", "dead")) + f"{'loads':>7}"
    )
    for name, found in rates.items():
        row = "".join(
            f"{found[part]:10.0f}{found[part] / mine[part]:7.2f}" for part in ("hit", "miss", "dead")
        )
        print(f"{name:9}{row}{found['loads']:7.0f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
