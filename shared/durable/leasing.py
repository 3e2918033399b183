"""What both queues share: waiting for a job, and keeping a lease alive while its job runs."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Protocol

from shared.durable.errors import LeaseLostError
from shared.kernel.tasks import end

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from types import TracebackType
    from typing import Self

    from shared.durable.doorbell import Doorbell
    from shared.durable.records import QueueLease, Renewal

#: An idle worker looks by itself so often: without a doorbell, and in case a ring was lost.
_POLL_SECONDS = 1.0
_POLL_WITH_DOORBELL_SECONDS = 15.0
_SHORTEST_PAUSE_SECONDS = 0.005
#: So long a cancelled worker waits to give back a job that it has just been handed.
_GIVE_BACK_SECONDS = 2.0


@dataclass(frozen=True, slots=True)
class Idle:
    """No job now; `change_in` says when a lease expires or a delayed job is due, None for never."""

    change_in: timedelta | None


@dataclass(frozen=True, slots=True)
class LeaseAttempts:
    """One try to lease, and how to give back what nobody waits for any more."""

    once: Callable[[], Awaitable[QueueLease | Idle]]
    give_back: Callable[[QueueLease], Awaitable[object]]

    async def try_once(self) -> QueueLease | Idle:
        """Try; a caller that is cancelled meanwhile leaves no lease behind and costs no attempt."""
        trying = asyncio.ensure_future(self.once())
        try:
            return await asyncio.shield(trying)
        except asyncio.CancelledError:
            await self._give_back(trying)
            raise

    async def _give_back(self, trying: asyncio.Future[QueueLease | Idle]) -> None:
        """Bounded: a server that does not answer gets the job back when the lease expires."""
        try:
            async with asyncio.timeout(_GIVE_BACK_SECONDS):
                found = await trying
                if not isinstance(found, Idle):
                    await self.give_back(found)
        except Exception:  # noqa: BLE001 - the caller is told of its cancellation, not of this
            trying.cancel()


async def wait_for_lease(
    attempts: LeaseAttempts, wait: timedelta | None, doorbell: Doorbell | None
) -> QueueLease | None:
    """Try, then sleep on the doorbell until something changes; give up at the end of the wait."""
    clock = asyncio.get_running_loop().time
    deadline = clock() + (wait.total_seconds() if wait else 0)
    while True:
        found = await attempts.try_once()
        if not isinstance(found, Idle):
            return found
        left = deadline - clock()
        if left <= 0:
            return None
        pause = _POLL_SECONDS if doorbell is None else _POLL_WITH_DOORBELL_SECONDS
        if found.change_in is not None:
            pause = min(pause, max(found.change_in.total_seconds(), _SHORTEST_PAUSE_SECONDS))
        if doorbell is None:
            await asyncio.sleep(min(pause, left))
        else:
            await doorbell.wait(min(pause, left))


class RenewsLeases(Protocol):
    """The part of a queue that keeping a lease alive needs."""

    @property
    def lease_seconds(self) -> float:
        """How long a lease lasts."""

    async def renew(self, lease: QueueLease) -> Renewal:
        """Prolong the lease. Raises LeaseLostError."""


class KeptLease:
    """Renews at a third of the lease; cancels the body and raises LeaseLostError when it is lost.

    A renewal that fails otherwise is tried again until the lease has run out by this process's own
    monotonic clock, counted from before the last renewal that succeeded: never later than the server's.
    """

    def __init__(self, queue: RenewsLeases, lease: QueueLease) -> None:
        """Nothing happens before the block is entered."""
        self._queue = queue
        self._lease = lease
        self._clock = asyncio.get_running_loop().time
        self._body: asyncio.Task[object] | None = None
        self._renewer: asyncio.Task[None] | None = None
        self._cancelling = 0
        self._closing = False
        self._lost = False
        self._cancelled = False
        self._good_until = 0.0
        #: Somebody asked to stop this job; the body decides how.
        self.cancel_requested = False

    async def __aenter__(self) -> Self:
        """Renew once, so that the whole lease lies ahead, then go on in the background."""
        await self._renew()
        self._body = asyncio.current_task()
        self._cancelling = self._body.cancelling() if self._body else 0
        self._renewer = asyncio.create_task(self._keep(), name=f"keep lease of {self._lease.job.job_id}")
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Stop renewing; a lost lease becomes LeaseLostError, whatever the body made of it."""
        self._closing = True
        if self._renewer is not None:
            await end(self._renewer)
        if self._cancelled and self._body is not None:
            others_cancelled = self._body.uncancel() > self._cancelling
            if others_cancelled and kind is asyncio.CancelledError:
                return
        if self._lost or (kind is None and self._clock() >= self._good_until):
            raise LeaseLostError from error

    def check(self) -> None:
        """Raise LeaseLostError when the lease can no longer be relied on, such as after a blocked loop."""
        if self._lost or self._clock() >= self._good_until:
            raise LeaseLostError

    async def _renew(self) -> None:
        asked = self._clock()
        renewal = await self._queue.renew(self._lease)
        self._good_until = asked + self._queue.lease_seconds
        self.cancel_requested = renewal.cancel_requested

    async def _keep(self) -> None:
        third = self._queue.lease_seconds / 3
        pause = third
        while not self._closing:
            await asyncio.sleep(pause)
            left = self._good_until - self._clock()
            if left <= 0:
                break
            try:
                async with asyncio.timeout(left):
                    await self._renew()
            except LeaseLostError:
                break
            except Exception:  # noqa: BLE001 - outcome unknown: a repeated renewal does no harm
                pause = min(third / 3, max(self._good_until - self._clock(), 0))
            else:
                pause = third
        self._lost = True
        if self._body is not None and not self._closing:
            self._cancelled = True
            self._body.cancel()
