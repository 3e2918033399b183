"""arq or taskiq at the same work; run by `bench_queue` in the peer's own environment, answers JSON.

python queue_peers.py PEER REDIS_URL JOBS CONCURRENCY
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import time
from importlib import import_module
from typing import Any


async def arq(url: str, jobs: int, concurrency: int) -> dict[str, float]:
    connections: Any = import_module("arq.connections")
    worker_module: Any = import_module("arq.worker")
    done = 0

    async def work(_context: Any, _number: int) -> None:
        nonlocal done
        done += 1

    work.__qualname__ = "work"
    settings = connections.RedisSettings.from_dsn(url)
    pool = await connections.create_pool(settings)
    began = time.perf_counter()
    for number in range(jobs):
        await pool.enqueue_job("work", number)
    enqueued = time.perf_counter()
    worker = worker_module.Worker(
        functions=[work],
        redis_pool=pool,
        burst=True,
        max_jobs=concurrency,
        poll_delay=0.01,
        keep_result=0,
        handle_signals=False,
    )
    await worker.main()
    finished = time.perf_counter()
    await worker.close()
    assert done == jobs
    return {"enqueue": jobs / (enqueued - began), "work": jobs / (finished - enqueued)}


async def taskiq(url: str, jobs: int, concurrency: int) -> dict[str, float]:
    redis_brokers: Any = import_module("taskiq_redis")
    api: Any = import_module("taskiq.api")
    broker = redis_brokers.RedisStreamBroker(url=url)
    done = 0
    all_done = asyncio.Event()

    async def work(_number: int) -> None:
        nonlocal done
        done += 1
        if done == jobs:
            all_done.set()

    task = broker.register_task(work, task_name="work")
    await broker.startup()
    began = time.perf_counter()
    for number in range(jobs):
        await task.kiq(number)
    enqueued = time.perf_counter()
    receiving = asyncio.create_task(api.run_receiver_task(broker, max_async_tasks=concurrency))
    await all_done.wait()
    finished = time.perf_counter()
    receiving.cancel()
    return {"enqueue": jobs / (enqueued - began), "work": jobs / (finished - enqueued)}


async def main() -> None:
    peer, url, jobs, concurrency = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
    found = await {"arq": arq, "taskiq": taskiq}[peer](url, jobs, concurrency)
    sys.stdout.write(json.dumps(found) + "\n")
    sys.stdout.flush()
    os._exit(0)  # a receiver of taskiq outlives its cancellation


if __name__ == "__main__":
    asyncio.run(main())
