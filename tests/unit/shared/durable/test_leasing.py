"""Keeping a lease alive when renewals fail, and when others cancel."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest

from shared.durable import KeptLease, LeaseLostError, LocalDoorbell, QueuedJob, QueueLease, Renewal
from shared.durable.leasing import Idle, LeaseAttempts, wait_for_lease

if TYPE_CHECKING:
    from collections.abc import Callable

LEASE = QueueLease("lease", QueuedJob("job", "step"), "worker", datetime(2026, 1, 1, tzinfo=UTC), 1, 1)


class ScriptedQueue:
    """Renews as the test says."""

    lease_seconds = 0.3

    def __init__(self, outcome: Callable[[int], BaseException | None]) -> None:
        self.renewals = 0
        self._outcome = outcome

    async def renew(self, lease: QueueLease) -> Renewal:
        self.renewals += 1
        error = self._outcome(self.renewals)
        if error is not None:
            raise error
        return Renewal(lease.expires_at, cancel_requested=False)


class TestKeptLease:
    async def test_a_renewal_without_answer_is_tried_again(self) -> None:
        queue = ScriptedQueue(lambda number: ConnectionError() if number in {2, 3} else None)
        async with KeptLease(queue, LEASE):
            while queue.renewals < 5:
                await asyncio.sleep(0.01)

    async def test_a_server_that_never_answers_again_costs_the_lease_when_it_has_run_out(self) -> None:
        queue = ScriptedQueue(lambda number: ConnectionError() if number > 1 else None)
        clock = asyncio.get_running_loop().time
        began = clock()
        with pytest.raises(LeaseLostError):
            async with KeptLease(queue, LEASE):
                await asyncio.Event().wait()
        assert clock() - began >= queue.lease_seconds

    async def test_cancelling_from_outside_stays_a_cancellation(self) -> None:
        queue = ScriptedQueue(lambda _: None)
        began = asyncio.Event()

        async def body() -> None:
            async with KeptLease(queue, LEASE):
                began.set()
                await asyncio.Event().wait()

        task = asyncio.create_task(body())
        await began.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert task.cancelled()

    async def test_a_time_limit_around_it_stays_a_time_out(self) -> None:
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.05), KeptLease(ScriptedQueue(lambda _: None), LEASE):
                await asyncio.Event().wait()

    async def test_a_loss_leaves_the_task_fit_for_further_work(self) -> None:
        queue = ScriptedQueue(lambda number: LeaseLostError() if number > 1 else None)
        with pytest.raises(LeaseLostError):
            async with KeptLease(queue, LEASE):
                await asyncio.Event().wait()
        task = asyncio.current_task()
        assert task is not None
        assert task.cancelling() == 0
        await asyncio.sleep(0)

    async def test_the_bodys_own_error_passes(self) -> None:
        with pytest.raises(ZeroDivisionError):
            async with KeptLease(ScriptedQueue(lambda _: None), LEASE):
                raise ZeroDivisionError

    async def test_a_body_that_swallows_the_cancellation_is_refused_all_the_same(self) -> None:
        queue = ScriptedQueue(lambda number: LeaseLostError() if number > 1 else None)
        with pytest.raises(LeaseLostError):
            async with KeptLease(queue, LEASE):
                try:
                    await asyncio.Event().wait()
                except asyncio.CancelledError:
                    await asyncio.sleep(0)


async def nothing(_: QueueLease) -> None:
    """Nobody is cancelled here."""


class TestLeaseAttempts:
    async def test_a_lease_for_a_caller_that_was_cancelled_is_given_back(self) -> None:
        asked, answered = asyncio.Event(), asyncio.Event()
        given_back: list[QueueLease] = []

        async def attempt() -> QueueLease:
            asked.set()
            await answered.wait()
            return LEASE

        async def give_back(lease: QueueLease) -> None:
            given_back.append(lease)

        waiting = asyncio.create_task(LeaseAttempts(attempt, give_back).try_once())
        await asked.wait()
        waiting.cancel()
        await asyncio.sleep(0)
        answered.set()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        assert given_back == [LEASE]

    async def test_an_error_meanwhile_stays_a_cancellation(self) -> None:
        asked = asyncio.Event()

        async def attempt() -> Idle:
            asked.set()
            await asyncio.sleep(0)
            raise ConnectionError

        waiting = asyncio.create_task(LeaseAttempts(attempt, nothing).try_once())
        await asked.wait()
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting


class TestWaitForLease:
    async def test_without_a_wait_asks_once(self) -> None:
        asked = 0

        async def attempt() -> Idle:
            nonlocal asked
            asked += 1
            return Idle(None)

        assert await wait_for_lease(LeaseAttempts(attempt, nothing), None, None) is None
        assert asked == 1

    async def test_sleeps_on_the_doorbell_and_wakes_at_a_ring(self) -> None:
        doorbell = LocalDoorbell()
        answers: list[QueueLease | Idle] = [Idle(None), LEASE]

        async def attempt() -> QueueLease | Idle:
            if len(answers) == 2:
                asyncio.get_running_loop().call_soon(doorbell.ring)
            return answers.pop(0)

        from datetime import timedelta

        assert await wait_for_lease(LeaseAttempts(attempt, nothing), timedelta(minutes=5), doorbell) is LEASE

    async def test_forgotten_rings_are_bounded(self) -> None:
        doorbell = LocalDoorbell()
        for _ in range(1000):
            doorbell.ring()
        rings = 0
        async with asyncio.timeout(5):
            while rings < 64:
                await doorbell.wait(60)
                rings += 1
        await doorbell.wait(0.01)
