"""At the server's memory limit work can be finished, nothing is half-written, and memory comes back."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from shared.durable import (
    CancelOutcome,
    CapacityExceededError,
    ContextAge,
    JobState,
    LoopContext,
    QueuedJob,
    QueuePolicy,
    ReleaseOutcome,
    Retention,
    RunState,
)
from shared.testing.servers import redis_server, valkey_state_server
from tests.contracts.durable.backends import RedisBackend, context, event, redis_backend, run_record

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator
    from contextlib import AbstractContextManager

    from shared.testing.servers import KeyValueServer


@pytest.fixture(scope="module", params=["valkey", "redis"])
def own_server(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[KeyValueServer]:
    directory = tmp_path_factory.mktemp("memory")
    starting: AbstractContextManager[KeyValueServer] = (
        valkey_state_server(directory) if request.param == "valkey" else redis_server(directory)
    )
    with starting as server:
        yield server


@pytest.fixture
async def backend(own_server: KeyValueServer) -> AsyncIterator[RedisBackend]:
    async with redis_backend("valkey", f"{own_server.url}/1") as opened:
        await opened.raw.config_set("maxmemory-policy", "noeviction")
        await opened.raw.config_set("maxmemory", "256mb")
        await opened.raw.flushall()
        yield opened
        await opened.raw.config_set("maxmemory", "256mb")


async def fill(backend: RedisBackend) -> None:
    """From now on the server is over its limit."""
    await backend.raw.config_set("maxmemory", "1")


class TestRefused:
    async def test_whatever_grows_with_a_typed_error_and_nothing_is_half_written(
        self, backend: RedisBackend
    ) -> None:
        await fill(backend)
        runs = backend.runs()
        refused = [
            backend.queue().enqueue(QueuedJob("job-1", "step")),
            backend.checkpoints().save(context(), 0),
            runs.create(run_record()),
            backend.events().publish(event(1)),
            backend.events(retention=Retention(keep=timedelta(hours=1))).publish(event(1)),
            backend.contexts().append("run-1", {}, 0),
        ]
        for attempt in refused:
            with pytest.raises(CapacityExceededError):
                await attempt
        assert await backend.raw.dbsize() == 0


class TestPasses:
    async def test_finishing_jobs(self, backend: RedisBackend) -> None:
        queue = backend.queue(QueuePolicy(max_attempts=1))
        for number in range(6):
            await queue.enqueue(QueuedJob(f"job-{number}", "step"))
        await queue.enqueue(QueuedJob("job-6", "step"), delay=timedelta(hours=1))
        await fill(backend)
        first, second, third, fourth = [await queue.lease("worker-1") for _ in range(4)]
        assert first is not None
        assert second is not None
        assert third is not None
        assert fourth is not None
        await queue.renew(first)
        await queue.acknowledge(first)
        assert await queue.release(second, counts=False) is ReleaseOutcome.WAITING
        assert await queue.release(third, error="failed") is ReleaseOutcome.DEAD
        assert await queue.cancel(fourth.job.job_id) is CancelOutcome.MARKED
        assert await queue.cancel("job-5") is CancelOutcome.STOPPED
        assert await queue.cancel("job-6") is CancelOutcome.STOPPED
        assert await queue.requeue_dead(third.job.job_id) == 1
        assert await queue.state(third.job.job_id) is JobState.PENDING
        await queue.reclaim()
        await backend.raw.config_set("maxmemory", "256mb")  # a look at all keys at once is a transaction
        places = await backend.places()
        assert {job_id: where for job_id, where in places.items() if len(where) != 1} == {}

    async def test_deleting_and_reading(self, backend: RedisBackend) -> None:
        store, runs, events, contexts = (
            backend.checkpoints(Retention(listed=True)),
            backend.runs(),
            backend.events(),
            backend.contexts(),
        )
        await store.save(context(), 0)
        await runs.create(run_record())
        await events.publish(event(1))
        await contexts.append("run-1", {}, 0)
        await fill(backend)
        assert await store.load("run-1") is not None
        assert len(await runs.list_recent()) == 1
        assert await contexts.settle("run-1", ContextAge.FAILED)
        assert await store.delete("run-1", 1)
        assert await runs.delete("run-1", 0)
        assert await events.delete("run-1")
        assert await contexts.delete("run-1")
        assert await backend.raw.dbsize() == 0


async def live_and_leave(backend: RedisBackend, number: int) -> None:
    """One run from its first job to its deletion."""
    run_id = f"run-{number}"
    queue, store, runs, events = backend.queue(), backend.checkpoints(), backend.runs(), backend.events()
    await queue.enqueue(QueuedJob(f"job-{number}", "step"))
    lease = await queue.lease("worker-1")
    assert lease is not None
    await runs.create(run_record(run_id))
    await store.save(LoopContext(run_id, plan=["x" * 1000]), 0, lease=lease)
    await events.publish(event(1, run_id))
    await runs.compare_and_set(run_record(run_id, state=RunState.COMPLETED), 0)
    await queue.acknowledge(lease)
    await store.delete(run_id, 1)
    await runs.delete(run_id, 1)
    await events.delete(run_id)


class TestComesBack:
    async def test_to_where_it_was_after_many_runs(self, backend: RedisBackend) -> None:
        for number in range(20):
            await live_and_leave(backend, number)
        before = (await backend.raw.info("memory"))["used_memory"]
        for number in range(200):
            await live_and_leave(backend, number)
        after = (await backend.raw.info("memory"))["used_memory"]
        assert await backend.raw.dbsize() == 0
        assert after <= before * 1.05
