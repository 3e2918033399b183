"""After every random step an id is in exactly one of pending, delayed, leased and dead, or nowhere."""

from __future__ import annotations

import random
from datetime import timedelta
from typing import TYPE_CHECKING

from shared.durable import Dedupe, LeaseLostError, QueuedJob, QueueLease, QueuePolicy

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from tests.contracts.durable.backends import AnyQueue, Backend

IDS = [f"job-{number}" for number in range(6)]
STEPS = 90


class RandomWorld:
    """Does one random thing at a time to a queue, sometimes with leases that are lost at once."""

    def __init__(self, backend: Backend, seed: int) -> None:
        self.random = random.Random(seed)  # noqa: S311 - a test's choices
        policy = QueuePolicy(max_attempts=2, max_leased=4, max_jobs=5)
        self.steady: AnyQueue = backend.queue(policy)
        self.hasty: AnyQueue = backend.queue(policy, lease_seconds=0.001)
        self.leases: list[QueueLease] = []
        often = [self.enqueue, self.lease, self.release]
        seldom = [self.acknowledge, self.renew, self.cancel, self.reclaim, self.requeue, self.purge]
        self.steps = [*often * 4, *seldom]

    async def step(self) -> str:
        step: Callable[[], Awaitable[object]] = self.random.choice(self.steps)
        try:
            await step()
        except LeaseLostError:
            return f"{step.__name__} refused"
        return step.__name__

    async def enqueue(self) -> None:
        counts = await self.steady.counts()
        if counts.pending + counts.delayed + counts.leased + counts.dead >= 5:
            return
        dedupe = Dedupe(self.random.choice("ab"), timedelta(milliseconds=self.random.choice([1, 60_000])))
        delay = timedelta(milliseconds=self.random.choice([0, 0, 1, 60_000]))
        job = QueuedJob(self.random.choice(IDS), "step")
        await self.steady.enqueue(job, delay=delay, dedupe=self.random.choice([None, dedupe]))

    async def lease(self) -> None:
        lease = await self.random.choice([self.steady, self.hasty]).lease("worker-1")
        if lease is not None:
            self.leases.append(lease)

    def some_lease(self) -> QueueLease:
        if not self.leases:
            raise LeaseLostError
        return self.leases[-1] if self.random.random() < 0.6 else self.random.choice(self.leases)

    async def acknowledge(self) -> None:
        await self.steady.acknowledge(self.some_lease())

    async def release(self) -> None:
        delay = self.random.choice([None, timedelta(milliseconds=1), timedelta(hours=1)])
        await self.steady.release(
            self.some_lease(), delay=delay, counts=self.random.random() < 0.7, error="e"
        )

    async def renew(self) -> None:
        await self.random.choice([self.steady, self.hasty]).renew(self.some_lease())

    async def cancel(self) -> None:
        await self.steady.cancel(self.random.choice(IDS))

    async def reclaim(self) -> None:
        await self.steady.reclaim(self.random.choice([1, 10]))

    async def requeue(self) -> None:
        await self.steady.requeue_dead(self.random.choice(IDS))

    async def purge(self) -> None:
        await self.steady.purge_dead(timedelta(0), limit=1)


async def test_every_id_is_in_exactly_one_place(backend: Backend) -> None:
    world = RandomWorld(backend, seed=3)
    history: list[str] = []
    seen: set[str] = set()
    for _ in range(STEPS):
        history.append(await world.step())
        places = await backend.places()
        assert all(len(where) == 1 for where in places.values()), history[-5:]
        assert len(places) <= 5
        counts = await world.steady.counts()
        assert counts.pending + counts.delayed + counts.leased + counts.dead == len(places)
        seen.update(place for where in places.values() for place in where)
    assert {"leased", "dead"} <= seen
