"""Server time of a compare-and-set of one megabyte against a plain SET of the same bytes.

    python -m tests.benchmarks.bench_checkpoint

Goal: at most twice, which a staged compare-and-set is held to: the bytes come by a plain SET to a key of
their own, and the script moves them into place. The figures are processor time of the server (`INFO cpu`),
which includes taking the requests in, the best of twelve rounds in turn on one server. Beside them: the same
through a script's argument alone, as a client without SET does it; a script that takes the same bytes and
does nothing, which no such script can undercut because the server hashes every argument byte by byte; and one
that decodes the stored document.
"""

from __future__ import annotations

import asyncio
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shared.durable import LoopCheckpointCodec, LoopContext, RedisCheckpointStore, RedisConfig
from shared.durable.client import ConnectionLimits, open_client
from shared.testing.servers import redis_server, valkey_state_server

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

GOAL = 2.0
ROUNDS, CALLS = 12, 25
PLAIN, STAGED = "plain SET", "compare-and-set, staged"
EMPTY = "#!lua\nreturn {'saved'}"
DECODE = "#!lua\ncjson.decode(redis.call('GET', KEYS[1]))\nreturn redis.call('SET', KEYS[1], ARGV[1])"


def one_megabyte() -> LoopContext:
    """A rollout with the reports of a large fleet."""
    report = {"sessions": {f"session-{number}": "established" for number in range(20)}, "prefixes": 812.5}
    awaiting = {f"node-{number}": report for number in range(1450)}
    return LoopContext("run-1", plan=list(awaiting), awaiting=awaiting)


async def server_microseconds(
    client: Any, calls: Mapping[str, Callable[[], Awaitable[object]]]
) -> dict[str, float]:
    """Of each call the server's processor time, the best of rounds that take turns."""
    best = dict.fromkeys(calls, float("inf"))
    for _ in range(ROUNDS):
        for name, call in calls.items():
            before = await spent(client)
            for _ in range(CALLS):
                await call()
            best[name] = min(best[name], (await spent(client) - before) / CALLS * 1e6)
    return best


async def spent(client: Any) -> float:
    used = await client.info("cpu")
    return float(used["used_cpu_user"]) + float(used["used_cpu_sys"])


async def measure(name: str, url: str) -> float:
    client: Any = open_client(url, ConnectionLimits(command_timeout=20))
    context = one_megabyte()
    stored = LoopCheckpointCodec().encode(context, 1)
    staging = RedisCheckpointStore(client, RedisConfig("bench:{a}"), staging=client)
    by_argument = RedisCheckpointStore(client, RedisConfig("bench:{b}"))

    async def plain() -> None:
        # Encodes as a save does: what a client does in between decides what the server finds in its caches.
        await client.set("bench:{c}:plain", LoopCheckpointCodec().encode(context, 1))

    calls: dict[str, Callable[[], Awaitable[object]]] = {
        PLAIN: plain,
        STAGED: saving(staging, context),
        "compare-and-set, bytes as a script's argument": saving(by_argument, context),
        "a script that takes the same bytes and does nothing": lambda: client.eval(
            EMPTY, 1, "bench:{c}:plain", stored
        ),
        "a script that decodes what is stored": lambda: client.eval(DECODE, 1, "bench:{c}:plain", stored),
    }
    best = await server_microseconds(client, calls)
    await client.aclose()
    for what, microseconds in best.items():
        ratio = microseconds / best[PLAIN]
        print(f"{name}: {len(stored)} bytes, {what}: {microseconds:.0f} us ({ratio:.2f} x)", flush=True)
    return best[STAGED] / best[PLAIN]


def saving(store: RedisCheckpointStore, context: LoopContext) -> Callable[[], Awaitable[object]]:
    """Saves over its own last revision."""
    revision = 0

    async def save() -> None:
        nonlocal revision
        revision = await store.save(context, revision)

    return save


def main() -> int:
    ratios = {}
    with tempfile.TemporaryDirectory() as directory:
        for name, start in (("valkey", valkey_state_server), ("redis", redis_server)):
            with start(Path(directory) / name) as server:
                ratios[name] = asyncio.run(measure(name, f"{server.url}/1"))
    print(f"goal: at most {GOAL} x; {'met' if max(ratios.values()) <= GOAL else 'missed'}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
