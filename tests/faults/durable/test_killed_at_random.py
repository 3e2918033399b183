"""Many jobs, several workers, killed at random all the time: every job is done, none is lost or stuck."""

from __future__ import annotations

import asyncio
import random
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from shared.durable import LeaseLostError, QueuedJob
from shared.testing.waiting import wait_until
from tests.contracts.durable.backends import open_backend
from tests.faults.durable.rollout import Assignment

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from tests.contracts.durable.backends import Backend
    from tests.faults.durable.effects import Effects
    from tests.faults.durable.nursery import Nursery

LEASE_SECONDS = 0.5


async def enqueue(backend: Backend, count: int) -> set[str]:
    queue = backend.queue()
    names = [f"job-{number}" for number in range(count)]
    for start in range(0, count, 50):
        await asyncio.gather(*(queue.enqueue(QueuedJob(name, "step")) for name in names[start : start + 50]))
    return set(names)


async def kill_until_done(
    backend: Backend, workers: Nursery, told: Assignment, count: int, pause: float
) -> int:
    """Kill one random worker after another, each replaced at once, until the queue is empty."""
    chance = random.Random(7)  # noqa: S311 - a test's choices
    running = [workers.start(replace(told, worker=f"worker-{number}")) for number in range(count)]
    killed = 0
    while await backend.places() or killed < count:
        victim = chance.randrange(count)
        workers.kill(running[victim])
        killed += 1
        running[victim] = workers.start(replace(told, worker=f"worker-{victim}-{killed}"))
        for where in (await backend.places()).values():
            assert len(where) == 1
        await asyncio.sleep(pause * chance.random())  # the kills are spread, nothing is waited for
    return killed


def jobs_of(location: tuple[str, str], backend: Backend, effects: Effects) -> Assignment:
    return Assignment(*location, backend.prefix, str(effects.directory), "jobs", lease_seconds=LEASE_SECONDS)


@pytest.mark.processes
class TestKilledAtRandom:
    async def test_each_job_is_done_exactly_once_in_effect(
        self, backend: Backend, location: tuple[str, str], effects: Effects, workers: Nursery
    ) -> None:
        # A worker on SQL takes longer to begin, and each is to live for a few jobs before it is killed.
        count, pause = (300, 0.1) if location[0] == "valkey" else (100, 0.4)
        names = await enqueue(backend, count)
        killed = await kill_until_done(backend, workers, jobs_of(location, backend, effects), 4, pause)
        assert killed >= 4
        assert effects.done() == names
        assert effects.contradictions() == []

    @pytest.mark.soak
    @pytest.mark.timeout(900)
    async def test_each_of_10000_jobs_is_done_exactly_once_in_effect(
        self, backend: Backend, location: tuple[str, str], effects: Effects, workers: Nursery
    ) -> None:
        names = await enqueue(backend, 10_000)
        await kill_until_done(backend, workers, jobs_of(location, backend, effects), 8, pause=1.0)
        assert effects.done() == names
        assert effects.contradictions() == []


class TestReclaimed:
    async def test_the_job_of_a_killed_worker_is_there_again_soon_after_its_lease(
        self, backend: Backend, location: tuple[str, str], effects: Effects, workers: Nursery
    ) -> None:
        await backend.queue().enqueue(QueuedJob("job-1", "step"))
        holder = replace(jobs_of(location, backend, effects), role="holder")
        pid = workers.start(holder)
        await wait_until(lambda: effects.marks() == ["leased"])
        workers.kill(pid)
        queue = backend.queue(lease_seconds=LEASE_SECONDS)

        async def there_again() -> bool:
            return (await queue.reclaim()).waiting == 1

        await wait_until(there_again)
        lease = await queue.lease("worker-2")
        assert lease is not None
        assert lease.attempt == 2


@pytest.fixture
async def crowd(location: tuple[str, str]) -> AsyncIterator[Backend]:
    async with open_backend(*location) as opened:
        yield opened


class TestJanitor:
    async def test_takes_no_job_whose_lease_is_fresh(self, crowd: Backend) -> None:
        names = await enqueue(crowd, 60)
        queue = crowd.queue()
        done: set[str] = set()
        refused = 0

        async def work(worker: str) -> None:
            nonlocal refused
            while (lease := await queue.lease(worker)) is not None:
                try:
                    await queue.acknowledge(lease)
                except LeaseLostError:
                    refused += 1
                else:
                    done.add(lease.job.job_id)

        async def sweep() -> None:
            while True:
                await queue.reclaim()
                await asyncio.sleep(0.01)

        janitor = asyncio.create_task(sweep())
        await asyncio.gather(*(work(f"worker-{number}") for number in range(20)))
        janitor.cancel()
        await asyncio.gather(janitor, return_exceptions=True)
        assert (done, refused) == (names, 0)
