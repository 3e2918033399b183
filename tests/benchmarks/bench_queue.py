"""Enqueue, lease and acknowledge on one Valkey, beside arq and taskiq.

    python -m tests.benchmarks.bench_queue

One process each, one after the other, jobs that do nothing, ten at a time; each peer runs in an environment
of its own that is made on first use from requirements/peers-*.txt. The numbers are jobs a second.
Ours is the queue alone; the peers' second number includes what their workers do around a job.
"""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from shared.durable import QueuedJob, QueuePolicy, RedisConfig, RedisQueueBackend
from shared.durable.client import open_client
from shared.testing.servers import valkey_state_server
from tests.benchmarks.peers import python_of

JOBS, CONCURRENCY = 1000, 10

GUARANTEES = {
    "ours": "a lease each job, fenced; attempts counted by the server; dead letters",
    "arq": "one job at a time by a lock with a TTL; retries; results off here; no dead letters",
    "taskiq": "a stream's group; acknowledged after the work; no attempts, no dead letters by itself",
}


async def ours(url: str) -> dict[str, float]:
    client = open_client(f"{url}/1")
    queue = RedisQueueBackend(
        client, RedisConfig("bench:{queue}"), policy=QueuePolicy(max_attempts=5, max_jobs=10_000)
    )
    began = time.perf_counter()
    for number in range(JOBS):
        await queue.enqueue(QueuedJob(f"job-{number}", "work", {"number": number}))
    enqueued = time.perf_counter()

    async def work(name: str) -> None:
        while (lease := await queue.lease(name)) is not None:
            await queue.acknowledge(lease)

    await asyncio.gather(*(work(f"worker-{number}") for number in range(CONCURRENCY)))
    finished = time.perf_counter()
    await client.aclose()
    return {"enqueue": JOBS / (enqueued - began), "work": JOBS / (finished - enqueued)}


def peer(name: str, url: str) -> dict[str, float]:
    script = Path(__file__).with_name("queue_peers.py")
    command = [str(python_of(name)), str(script), name, url, str(JOBS), str(CONCURRENCY)]
    answer = subprocess.run(command, check=True, capture_output=True, text=True, timeout=120).stdout
    found: dict[str, float] = json.loads(answer.splitlines()[-1])
    return found


def main() -> int:
    with tempfile.TemporaryDirectory() as directory, valkey_state_server(Path(directory)) as server:
        mine = asyncio.run(ours(server.url))
        others = {name: peer(name, f"{server.url}/{number}") for number, name in ((2, "arq"), (3, "taskiq"))}
    rates = {"ours": mine, **others}
    print(f"{'':8} {'enqueue/s':>10} {'ratio':>6} {'lease+ack/s':>12} {'ratio':>6}")
    for name, rate in rates.items():
        ratios = {part: rate[part] / mine[part] for part in rate}
        row = f"{name:8} {rate['enqueue']:10.0f} {ratios['enqueue']:6.2f}"
        print(f"{row} {rate['work']:12.0f} {ratios['work']:6.2f}  {GUARANTEES[name]}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
