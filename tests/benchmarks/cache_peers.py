"""aiocache and cashews at the same work; run by `bench_cache` in the peers' own environment, answers JSON.

python cache_peers.py REDIS_URL DEAD_URL READS STAMPEDE
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from collections.abc import Awaitable, Callable
from importlib import import_module
from typing import Any
from urllib.parse import urlsplit

VALUE = {"node": "alpha", "numbers": list(range(20))}


async def rate(work: Callable[[int], Awaitable[Any]], count: int) -> float:
    began = time.perf_counter()
    for number in range(count):
        await work(number)
    return count / (time.perf_counter() - began)


class Loads:
    """Counts how often the value was computed."""

    count = 0

    async def __call__(self) -> Any:
        self.count += 1
        await asyncio.sleep(0.02)
        return VALUE


async def of_cashews(url: str, dead: str, reads: int, stampede: int) -> dict[str, float]:
    made: Any = import_module("cashews").Cache
    cache, away, loads = made(), made(), Loads()
    cache.setup(url)
    away.setup(dead, suppress=True)
    await cache.set("hit", VALUE, expire=60)

    async def load() -> Any:
        return await loads()

    async def read(_number: int) -> Any:
        return await away.get("hit", default=None) or VALUE

    locked = cache(ttl=60, key="stampede", lock=True)(load)
    hit = await rate(lambda _: cache.get("hit"), reads)
    miss = await rate(lambda number: cache.get(f"miss:{number}"), reads)
    await asyncio.gather(*(locked() for _ in range(stampede)), return_exceptions=True)
    return {"hit": hit, "miss": miss, "loads": loads.count, "dead": await rate(read, reads // 10)}


async def of_aiocache(url: str, dead: str, reads: int, stampede: int) -> dict[str, float]:
    library: Any = import_module("aiocache")
    serializer: Any = import_module("aiocache.serializers").JsonSerializer

    def place(address: str) -> dict[str, Any]:
        parts = urlsplit(address)
        return {"endpoint": parts.hostname, "port": parts.port, "serializer": serializer()}

    kind = library.Cache.REDIS
    cache, away = library.Cache(kind, **place(url)), library.Cache(kind, timeout=0.1, **place(dead))
    loads = Loads()
    await cache.set("hit", VALUE, ttl=60)

    async def load() -> Any:
        return await loads()

    async def read(_number: int) -> Any:
        try:
            return await away.get("hit")
        except Exception:  # noqa: BLE001 - what a caller of this library has to write
            return VALUE

    locked = library.cached_stampede(lease=2, ttl=60, key="stampede", cache=kind, **place(url))(load)
    hit = await rate(lambda _: cache.get("hit"), reads)
    miss = await rate(lambda number: cache.get(f"miss:{number}"), reads)
    await asyncio.gather(*(locked() for _ in range(stampede)), return_exceptions=True)
    return {"hit": hit, "miss": miss, "loads": loads.count, "dead": await rate(read, reads // 10)}


async def main() -> None:
    url, dead, reads, stampede = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
    found = {
        "cashews": await of_cashews(url, dead, reads, stampede),
        "aiocache": await of_aiocache(url, dead, reads, stampede),
    }
    print(json.dumps(found))


if __name__ == "__main__":
    asyncio.run(main())
