"""Reads of what is cached, through the whole of control_server, against the same bytes from a bare route.

    python -m tests.benchmarks.bench_reads

Goal: for each document at least 0.6 of the requests that a Starlette route answers which holds the bytes.
Read are the health of a node and its routing in numbers by a person's token, and the desired state by its
agent's. Both are served by one process with the same settings, on SQLite and with Redis as the cache; what
counts is its processor time, because whatever asks shares the machine with it.
"""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from shared.testing.servers import redis_server
from tests.benchmarks.http_load import Rate, get, measure

GOAL = 0.6
REQUESTS, WARM_UP = 2000, 100


@dataclass(frozen=True)
class Running:
    pid: int
    addresses: dict[str, str]
    documents: list[dict[str, str]]


@asynccontextmanager
async def running(directory: Path, cache_url: str) -> AsyncIterator[Running]:
    command = [sys.executable, "-m", "tests.benchmarks.read_servers", str(directory), cache_url]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        told: dict[str, Any] = json.loads(await asyncio.to_thread(process.stdout.readline))
        addresses = {kind: f"http://localhost:{told[kind]}" for kind in ("bare", "ours")}
        try:
            yield Running(process.pid, addresses, told["documents"])
        finally:
            process.communicate("")


async def rate(server: Running, kind: str, document: dict[str, str]) -> tuple[Rate, int]:
    """How fast the document is answered, and its bytes."""
    address = server.addresses[kind]
    request = get(f"{address}{document['path']}", {"Authorization": f"Bearer {document['bearer']}"})
    await measure(address, server.pid, [request] * WARM_UP)
    bodies, found = await measure(address, server.pid, [request] * REQUESTS)
    return found, len(bodies[-1])


def told(name: str, size: int, rates: dict[str, Rate]) -> str:
    """One line of the result."""
    ours, bare = (rates[kind].of_its_processor for kind in ("ours", "bare"))
    return (
        f"{name:14s} {size:6d} bytes  {ours:6.0f} a second of its processor, bare {bare:6.0f},"
        f" ratio {ours / bare:.2f}"
    )


async def measured(directory: Path) -> bool:
    met = True
    state = directory / "control"
    state.mkdir()
    with redis_server(directory / "redis") as cache:
        async with running(state, cache.url) as server:
            for document in server.documents:
                rates = {}
                for kind in ("bare", "ours"):
                    rates[kind], size = await rate(server, kind, document)
                print(told(document["name"], size, rates), flush=True)
                met &= rates["ours"].of_its_processor >= GOAL * rates["bare"].of_its_processor
    return met


def main() -> int:
    with tempfile.TemporaryDirectory() as directory:
        met = asyncio.run(measured(Path(directory)))
    print(f"goal {GOAL} for each: {'met' if met else 'missed'}")
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main())
