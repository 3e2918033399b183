"""The commands that a runtime-state client and a Redis client share, timed; run alone it times fakeredis.

python state_peer.py
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Awaitable, Callable
from importlib import import_module
from typing import Any

CALLS = 20_000


async def rate(call: Callable[[int], Awaitable[object]]) -> float:
    """Calls a second of one task."""
    began = time.perf_counter()
    for number in range(CALLS):
        await call(number % 1000)
    return CALLS / (time.perf_counter() - began)


async def rates(client: Any) -> dict[str, float]:
    """What both kinds of client offer under one name."""
    await client.hset("h", mapping={str(number): "v" for number in range(100)})
    return {
        "set": await rate(lambda n: client.set(f"k{n}", "v" * 100, ex=60)),
        "get": await rate(lambda n: client.get(f"k{n}")),
        "incr": await rate(lambda n: client.incr(f"n{n}")),
        "expire": await rate(lambda n: client.expire(f"k{n}", 60)),
        "ttl": await rate(lambda n: client.ttl(f"k{n}")),
        "hset": await rate(lambda n: client.hset("h", mapping={str(n): "v"})),
        "hget": await rate(lambda n: client.hget("h", str(n))),
    }


async def main() -> None:
    """Time fakeredis."""
    client = import_module("fakeredis").FakeAsyncRedis()
    print(json.dumps(await rates(client)))
    await client.aclose()


if __name__ == "__main__":
    asyncio.run(main())
