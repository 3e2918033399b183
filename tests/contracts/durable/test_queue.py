"""What every queue promises: leases, attempts, cancelling, limits."""

from __future__ import annotations

import asyncio
from datetime import timedelta

import pytest

from shared.durable import (
    Backoff,
    CancelOutcome,
    CapacityExceededError,
    Dedupe,
    JobState,
    LeaseLostError,
    LocalDoorbell,
    PayloadError,
    QueuedJob,
    QueueLease,
    QueuePolicy,
    ReleaseOutcome,
    Schedule,
    enqueue_due,
)
from shared.testing.waiting import wait_until
from tests.contracts.durable.backends import AnyQueue, Backend, context

SHORT = 0.1
PATIENCE = timedelta(seconds=20)
IMMEDIATE_DEATH = QueuePolicy(max_attempts=1)


def job(number: int = 1, /, **payload: object) -> QueuedJob:
    return QueuedJob(f"job-{number}", "step", dict(payload), run_id="run-1")


async def leased(queue: AnyQueue, worker: str = "worker-1") -> QueueLease:
    lease = await queue.lease(worker)
    assert lease is not None
    return lease


class TestLease:
    async def test_hands_out_in_order_and_says_who_holds_what(self, backend: Backend) -> None:
        queue = backend.queue()
        await queue.enqueue(job(1, text="早 ✓", number=2**53 + 1))
        await queue.enqueue(job(2))
        first, second = await leased(queue), await leased(queue, "worker-2")
        assert (first.job, second.job) == (job(1, text="早 ✓", number=2**53 + 1), job(2))
        assert (first.worker_id, first.attempt, first.fence) == ("worker-1", 1, 1)
        assert await queue.lease("worker-3") is None

    async def test_lists_who_holds_what_until_when(self, backend: Backend) -> None:
        queue, soon = backend.queue(), backend.queue(lease_seconds=30)
        assert await queue.leased() == []
        for number in range(3):
            await queue.enqueue(job(number))
        first, second = await leased(queue), await leased(soon, "worker-2")
        found = await queue.leased()
        assert [(each.job, each.worker_id, each.attempts) for each in found] == [
            (job(1), "worker-2", 1),
            (job(0), "worker-1", 1),
        ]
        assert [each.expires_at for each in found] == [second.expires_at, first.expires_at]
        assert len(await queue.leased(limit=1)) == 1
        await queue.acknowledge(second)
        await backend.overwrite_job("job-0", b"not JSON")
        assert [(each.job_id, each.job) for each in await queue.leased()] == [("job-0", None)]

    async def test_twenty_workers_never_hold_the_same_job(self, backend: Backend) -> None:
        queue = backend.queue()
        for number in range(10):
            await queue.enqueue(job(number))
        found = await asyncio.gather(*(queue.lease(f"worker-{number}") for number in range(20)))
        held = [lease.job.job_id for lease in found if lease is not None]
        assert sorted(held) == [f"job-{number}" for number in range(10)]

    async def test_a_delayed_job_comes_when_it_is_due(self, backend: Backend) -> None:
        queue = backend.queue()
        await queue.enqueue(job(1), delay=timedelta(hours=1))
        await queue.enqueue(job(2), delay=timedelta(milliseconds=80))
        assert (await leased_in_time(queue)).job == job(2)
        assert await queue.lease("worker-1") is None
        assert await queue.state("job-1") is JobState.DELAYED

    async def test_an_expired_lease_comes_back_and_counts_as_an_attempt(self, backend: Backend) -> None:
        queue = backend.queue(lease_seconds=SHORT)
        await queue.enqueue(job())
        crashed = await leased(queue)
        again = await leased_in_time(queue)
        assert (again.job, again.attempt, again.fence) == (job(), 2, 2)
        assert again.lease_id != crashed.lease_id

    async def test_a_waiting_worker_is_woken_by_the_doorbell(self, backend: Backend) -> None:
        queue = backend.queue(QueuePolicy(doorbell=LocalDoorbell()))
        waiting = asyncio.create_task(queue.lease("worker-1", wait=PATIENCE))
        await asyncio.sleep(0)
        await queue.enqueue(job())
        lease = await waiting
        assert lease is not None

    async def test_cancelled_workers_leave_no_lease_behind_and_cost_no_attempt(
        self, backend: Backend
    ) -> None:
        queue = backend.queue(QueuePolicy(max_attempts=3))
        await queue.enqueue(job())
        for turns in range(12):
            asking = asyncio.create_task(queue.lease("worker-1"))
            for _ in range(turns):
                await asyncio.sleep(0)
            asking.cancel()
            (outcome,) = await asyncio.gather(asking, return_exceptions=True)
            if isinstance(outcome, QueueLease):
                await queue.release(outcome, counts=False)
        assert (await leased(queue)).attempt == 1

    async def test_and_by_a_dead_job_that_is_given_another_chance(self, backend: Backend) -> None:
        queue = backend.queue(QueuePolicy(max_attempts=1, doorbell=LocalDoorbell()))
        await queue.enqueue(job())
        await queue.release(await leased(queue))
        waiting = asyncio.create_task(queue.lease("worker-1", wait=PATIENCE))
        await asyncio.sleep(0)
        await queue.requeue_dead("job-1")
        assert await waiting is not None

    async def test_a_job_that_cannot_be_read_is_refused_and_hides_no_other(self, backend: Backend) -> None:
        queue = backend.queue(QueuePolicy(max_attempts=1), lease_seconds=SHORT)
        await queue.enqueue(job())
        await _damage_job(backend, "job-1")
        with pytest.raises(PayloadError):
            await queue.lease("worker-1")
        await queue.enqueue(job(2))
        assert (await leased(queue)).job == job(2)
        await wait_until(lambda: _is_dead(queue))
        assert [(dead.job_id, dead.job) for dead in await queue.dead() if dead.job_id == "job-1"] == [
            ("job-1", None)
        ]


class TestFencing:
    async def test_the_stale_worker_is_refused_everywhere(self, backend: Backend) -> None:
        queue = backend.queue(lease_seconds=SHORT)
        await queue.enqueue(job())
        stale = await leased(queue)
        fresh = await backend.queue().lease("worker-2", wait=PATIENCE)
        assert fresh is not None
        for refused in (queue.acknowledge, queue.renew, queue.release):
            with pytest.raises(LeaseLostError):
                await refused(stale)
        assert await queue.state("job-1") is JobState.LEASED
        await queue.acknowledge(fresh)

    async def test_an_expired_lease_is_lost_before_anybody_takes_over(self, backend: Backend) -> None:
        queue = backend.queue(lease_seconds=SHORT)
        await queue.enqueue(job())
        stale = await leased(queue)
        await wait_until(lambda: _save_is_refused(backend, stale))
        with pytest.raises(LeaseLostError):
            await queue.acknowledge(stale)
        assert (await leased(queue)).job == job()

    async def test_renewing_prolongs_by_the_servers_clock(self, backend: Backend) -> None:
        queue = backend.queue(lease_seconds=60)
        await queue.enqueue(job())
        lease = await leased(queue)
        await asyncio.sleep(0.005)
        assert (await queue.renew(lease)).expires_at > lease.expires_at

    async def test_a_second_acknowledgement_is_refused(self, backend: Backend) -> None:
        queue = backend.queue()
        await queue.enqueue(job())
        lease = await leased(queue)
        await queue.acknowledge(lease)
        assert await queue.state("job-1") is None
        with pytest.raises(LeaseLostError):
            await queue.acknowledge(lease)


class TestRelease:
    async def test_puts_the_job_at_the_end(self, backend: Backend) -> None:
        queue = backend.queue()
        await queue.enqueue(job(1))
        await queue.enqueue(job(2))
        assert await queue.release(await leased(queue)) is ReleaseOutcome.WAITING
        assert [(await leased(queue)).job.job_id for _ in range(2)] == ["job-2", "job-1"]

    async def test_a_shutdown_consumes_no_attempt(self, backend: Backend) -> None:
        queue = backend.queue(QueuePolicy(max_attempts=2))
        await queue.enqueue(job())
        for delivery in range(1, 6):
            lease = await leased(queue)
            assert (lease.attempt, lease.fence) == (1, delivery)
            assert await queue.release(lease, counts=False) is ReleaseOutcome.WAITING

    async def test_a_snooze_waits(self, backend: Backend) -> None:
        queue = backend.queue()
        await queue.enqueue(job())
        await queue.release(await leased(queue), delay=timedelta(hours=1), counts=False)
        assert await queue.state("job-1") is JobState.DELAYED

    async def test_backs_off_when_the_policy_says_so(self, backend: Backend) -> None:
        queue = backend.queue(QueuePolicy(backoff=Backoff(first=timedelta(hours=1))))
        await queue.enqueue(job())
        await queue.release(await leased(queue))
        assert await queue.state("job-1") is JobState.DELAYED


class TestDeadLetters:
    async def test_a_job_dies_with_its_last_attempt_and_keeps_the_reason(self, backend: Backend) -> None:
        queue = backend.queue(QueuePolicy(max_attempts=2))
        await queue.enqueue(job())
        assert await queue.release(await leased(queue), error="first") is ReleaseOutcome.WAITING
        assert await queue.release(await leased(queue), error="second") is ReleaseOutcome.DEAD
        (dead,) = await queue.dead()
        assert (dead.job, dead.attempts, dead.error) == (job(), 2, "second")
        assert await queue.lease("worker-1") is None

    async def test_a_crash_counts_as_an_attempt(self, backend: Backend) -> None:
        queue = backend.queue(IMMEDIATE_DEATH, lease_seconds=SHORT)
        await queue.enqueue(job())
        await leased(queue)
        await wait_until(lambda: _is_dead(queue))
        assert await backend.places() == {"job-1": ["dead"]}

    async def test_requeued_it_has_all_its_attempts_again(self, backend: Backend) -> None:
        queue = backend.queue(IMMEDIATE_DEATH)
        await queue.enqueue(job())
        await queue.release(await leased(queue), error="failed")
        assert await queue.requeue_dead("job-1", "job-2") == 1
        again = await leased(queue)
        assert (again.attempt, again.fence) == (1, 2)
        assert await queue.dead() == []

    async def test_purged_it_is_gone(self, backend: Backend) -> None:
        queue = backend.queue(IMMEDIATE_DEATH)
        await queue.enqueue(job())
        await queue.release(await leased(queue))
        assert await queue.purge_dead(timedelta(hours=1)) == 0
        assert await queue.purge_dead(timedelta(0)) == 1
        assert await backend.places() == {}

    async def test_attempts_have_no_limit_by_default(self, backend: Backend) -> None:
        queue = backend.queue()
        await queue.enqueue(job())
        for _ in range(12):
            await queue.release(await leased(queue))
        assert (await leased(queue)).attempt == 13


class TestCancel:
    @pytest.mark.parametrize("delay", [None, timedelta(hours=1)])
    async def test_stops_a_waiting_job(self, backend: Backend, delay: timedelta | None) -> None:
        queue = backend.queue()
        await queue.enqueue(job(), delay=delay)
        assert await queue.cancel("job-1") is CancelOutcome.STOPPED
        assert await backend.places() == {}

    async def test_marks_a_leased_job_which_then_does_not_return(self, backend: Backend) -> None:
        queue = backend.queue()
        await queue.enqueue(job())
        lease = await leased(queue)
        assert await queue.cancel("job-1") is CancelOutcome.MARKED
        assert (await queue.renew(lease)).cancel_requested
        assert await queue.release(lease) is ReleaseOutcome.CANCELLED
        assert await backend.places() == {}

    async def test_a_marked_job_whose_worker_crashed_does_not_return(self, backend: Backend) -> None:
        queue = backend.queue(lease_seconds=SHORT)
        await queue.enqueue(job())
        await leased(queue)
        await queue.cancel("job-1")
        await wait_until(lambda: _swept(backend))
        assert await queue.lease("worker-2") is None

    async def test_says_when_there_is_none(self, backend: Backend) -> None:
        assert await backend.queue().cancel("job-1") is CancelOutcome.UNKNOWN


class TestEnqueue:
    async def test_the_same_id_is_one_job(self, backend: Backend) -> None:
        queue = backend.queue()
        results = await asyncio.gather(*(queue.enqueue(job()) for _ in range(8)))
        assert sorted(result.created for result in results) == [False] * 7 + [True]
        assert (await queue.counts()).pending == 1

    async def test_a_dedupe_key_admits_one_job_even_after_it_is_done(self, backend: Backend) -> None:
        queue = backend.queue()
        window = Dedupe("webhook-7", timedelta(hours=1))
        assert (await queue.enqueue(job(1), dedupe=window)).created
        await queue.acknowledge(await leased(queue))
        late = await queue.enqueue(job(2), dedupe=window)
        assert (late.job_id, late.created) == ("job-1", False)
        assert await backend.places() == {}

    async def test_of_many_concurrent_callers_with_one_dedupe_key_one_wins(self, backend: Backend) -> None:
        queue = backend.queue()
        window = Dedupe("webhook-7", timedelta(hours=1))
        results = await asyncio.gather(*(queue.enqueue(job(number), dedupe=window) for number in range(8)))
        assert len({result.job_id for result in results}) == 1
        assert sum(result.created for result in results) == 1

    async def test_after_the_window_the_key_is_free(self, backend: Backend) -> None:
        queue = backend.queue()
        window = Dedupe("webhook-7", timedelta(milliseconds=60))
        await queue.enqueue(job(1), dedupe=window)

        async def admitted() -> bool:
            return (await queue.enqueue(job(2), dedupe=window)).created

        await wait_until(admitted)

    async def test_a_full_queue_refuses_and_writes_nothing(self, backend: Backend) -> None:
        queue = backend.queue(QueuePolicy(max_jobs=2))
        await queue.enqueue(job(1))
        await queue.enqueue(job(2))
        with pytest.raises(CapacityExceededError):
            await queue.enqueue(job(3), dedupe=Dedupe("third", timedelta(hours=1)))
        assert (await backend.places()).keys() == {"job-1", "job-2"}
        await queue.acknowledge(await leased(queue))
        assert (await queue.enqueue(job(3), dedupe=Dedupe("third", timedelta(hours=1)))).created

    async def test_a_schedule_is_due_once_an_interval_whoever_asks(self, backend: Backend) -> None:
        schedules = [
            Schedule("retention", timedelta(hours=1), "retention"),
            Schedule("sync", timedelta(hours=1), "s"),
        ]
        created = await asyncio.gather(*(enqueue_due(backend.queue(), schedules) for _ in range(4)))
        assert sum(created) == 2


class TestLimits:
    async def test_no_more_jobs_are_leased_than_the_limit_allows(self, backend: Backend) -> None:
        queue = backend.queue(QueuePolicy(max_leased=2))
        for number in range(6):
            await queue.enqueue(job(number))
        found = await asyncio.gather(*(queue.lease(f"worker-{number}") for number in range(6)))
        held = [lease for lease in found if lease is not None]
        assert len(held) == 2
        await queue.acknowledge(held[0])
        assert await queue.lease("worker-7") is not None
        assert await queue.lease("worker-8") is None


class TestSweep:
    async def test_a_janitor_puts_expired_leases_back_without_any_lease_call(self, backend: Backend) -> None:
        queue = backend.queue(lease_seconds=SHORT)
        await queue.enqueue(job())
        await leased(queue)
        await wait_until(lambda: _swept(backend))
        assert await queue.state("job-1") is JobState.PENDING

    async def test_takes_no_job_whose_lease_is_fresh(self, backend: Backend) -> None:
        queue = backend.queue()
        for number in range(5):
            await queue.enqueue(job(number))
        held = [await leased(queue) for _ in range(5)]
        await asyncio.gather(*(queue.reclaim() for _ in range(5)))
        for lease in held:
            await queue.acknowledge(lease)

    async def test_counts_say_where_everything_is(self, backend: Backend) -> None:
        queue = backend.queue(IMMEDIATE_DEATH)
        for number in range(4):
            await queue.enqueue(job(number), delay=timedelta(hours=1) if number == 3 else None)
        await queue.release(await leased(queue))
        await leased(queue)
        counts = await queue.counts()
        assert (counts.pending, counts.delayed, counts.leased, counts.dead) == (1, 1, 1, 1)
        assert counts.oldest_wait >= timedelta(0)


async def leased_in_time(queue: AnyQueue) -> QueueLease:
    lease = await queue.lease("worker-9", wait=PATIENCE)
    assert lease is not None
    return lease


async def _save_is_refused(backend: Backend, lease: QueueLease) -> bool:
    """Tells that the lease has expired without touching the job."""
    store = backend.checkpoints()
    try:
        found = await store.load("run-1")
        await store.save(found or context(), lease=lease)
    except LeaseLostError:
        return True
    return False


async def _is_dead(queue: AnyQueue) -> bool:
    await queue.reclaim()
    return await queue.state("job-1") is JobState.DEAD


async def _swept(backend: Backend) -> bool:
    swept = await backend.queue().reclaim()
    return swept.waiting + swept.dead + swept.cancelled > 0


async def _damage_job(backend: Backend, job_id: str) -> None:
    await backend.overwrite_job(job_id, b'{"schema":"routeloom.job.v9"}')
