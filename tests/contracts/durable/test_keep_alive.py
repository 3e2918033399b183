"""What keeping a lease alive promises on every back end."""

from __future__ import annotations

import asyncio
import time

import pytest

from shared.durable import LeaseLostError, QueuedJob, QueueLease
from shared.testing.waiting import wait_until
from tests.contracts.durable.backends import AnyQueue, Backend

#: Long enough that a busy machine does not lose it between two renewals.
LEASE = 1.5


async def leased(queue: AnyQueue) -> QueueLease:
    await queue.enqueue(QueuedJob("job-1", "step"))
    lease = await queue.lease("worker-1")
    assert lease is not None
    return lease


class TestKeepAlive:
    async def test_a_job_that_runs_for_three_leases_is_delivered_once(self, backend: Backend) -> None:
        queue = backend.queue(lease_seconds=LEASE)
        lease = await leased(queue)
        ends = asyncio.get_running_loop().time() + 3 * LEASE
        async with queue.keep_alive(lease) as kept:
            while asyncio.get_running_loop().time() < ends:
                assert await queue.lease("worker-2") is None
                kept.check()
                await asyncio.sleep(LEASE / 10)
        await queue.acknowledge(lease)

    async def test_a_lost_lease_cancels_the_body_before_it_publishes(self, backend: Backend) -> None:
        queue = backend.queue(lease_seconds=LEASE)
        lease = await leased(queue)
        published = False
        with pytest.raises(LeaseLostError):
            async with queue.keep_alive(lease):
                await queue.release(lease)  # as if somebody else had taken it over
                await asyncio.Event().wait()
                published = True
        assert not published
        assert (await queue.counts()).pending == 1

    async def test_a_body_that_blocked_the_loop_past_its_lease_is_told(self, backend: Backend) -> None:
        queue = backend.queue(lease_seconds=LEASE)
        lease = await leased(queue)
        with pytest.raises(LeaseLostError):
            async with queue.keep_alive(lease) as kept:
                time.sleep(2 * LEASE)
                kept.check()
        with pytest.raises(LeaseLostError):
            await queue.acknowledge(lease)

    async def test_a_request_to_cancel_reaches_the_body(self, backend: Backend) -> None:
        queue = backend.queue(lease_seconds=LEASE)
        lease = await leased(queue)
        async with queue.keep_alive(lease) as kept:
            assert not kept.cancel_requested
            await queue.cancel("job-1")
            await wait_until(lambda: kept.cancel_requested)
        await queue.acknowledge(lease)

    async def test_refuses_to_begin_under_a_lease_that_is_gone(self, backend: Backend) -> None:
        queue = backend.queue()
        lease = await leased(queue)
        await queue.acknowledge(lease)
        with pytest.raises(LeaseLostError):
            async with queue.keep_alive(lease):
                pytest.fail("the body must not begin")
