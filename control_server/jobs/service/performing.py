"""One attempt at one job: under a lease that is kept alive, within its time, to one of five ends."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta

import structlog

from control_server.jobs.schemas import JobEnd, JobKind, JobOutcome
from shared.durable import KeptLease, LeaseLostError, QueueBackend, QueueLease, ReleaseOutcome
from shared.kernel.secrets import redact

log = structlog.get_logger(__name__)

#: A worker that stops waits so long for the store to take a job back, which is longer than a busy SQLite
#: lets a writer wait; then the lease runs out by itself.
GIVE_BACK_SECONDS = 8
_ERROR_LENGTH = 500


@dataclass(frozen=True, slots=True)
class Performer:
    """Carries out the jobs of one queue."""

    queue: QueueBackend
    kinds: Mapping[str, JobKind]

    async def perform(self, lease: QueueLease) -> JobEnd:
        """Do the job and settle it. A cancellation gives it back without counting the attempt."""
        clock = asyncio.get_running_loop().time
        began = clock()
        error = ""
        try:
            await self._run(lease)
            outcome = await self._acknowledge(lease)
        except LeaseLostError:
            outcome = JobOutcome.LOST
        except asyncio.CancelledError:
            await self._give_back(lease)
            raise
        except Exception as problem:  # noqa: BLE001 - whatever a job raises is that job's failure
            error = describe(problem)
            outcome = await self._put_back(lease, error)
            log.warning(
                "job.failed", kind=lease.job.kind, attempt=lease.attempt, outcome=outcome, error=error
            )
        return JobEnd(lease.job.kind, outcome, timedelta(seconds=clock() - began), error)

    async def _run(self, lease: QueueLease) -> None:
        kind = self.kinds.get(lease.job.kind)
        if kind is None:
            raise LookupError(f"this version knows no job of the kind {lease.job.kind!r}")
        async with KeptLease(self.queue, lease), asyncio.timeout(kind.time_limit.total_seconds()):
            await kind.run(lease.job)

    async def _acknowledge(self, lease: QueueLease) -> JobOutcome:
        """The outcome of an acknowledgement that was not answered is unknown: the job may come once more."""
        try:
            await self.queue.acknowledge(lease)
        except Exception as problem:  # noqa: BLE001 - any client's
            log.warning("job.not_acknowledged", kind=lease.job.kind, error=type(problem).__name__)
            return JobOutcome.LOST
        return JobOutcome.DONE

    async def _put_back(self, lease: QueueLease, error: str) -> JobOutcome:
        try:
            settled = await self.queue.release(lease, error=error)
        except Exception as problem:  # noqa: BLE001 - any client's; the lease runs out by itself
            log.warning("job.not_released", kind=lease.job.kind, error=type(problem).__name__)
            return JobOutcome.LOST
        if settled is not ReleaseOutcome.DEAD:
            return JobOutcome.FAILED
        kind = self.kinds.get(lease.job.kind)
        if kind is not None and kind.died is not None:
            await kind.died(lease.job, error)
        return JobOutcome.DEAD

    async def _give_back(self, lease: QueueLease) -> None:
        try:
            async with asyncio.timeout(GIVE_BACK_SECONDS):
                await self.queue.release(lease, counts=False, delay=timedelta(0))
        except Exception as problem:  # noqa: BLE001 - any client's; the lease runs out by itself
            log.warning("job.not_given_back", kind=lease.job.kind, error=type(problem).__name__)


def describe(problem: Exception) -> str:
    """One line that says what went wrong, without secrets."""
    text = " ".join(str(problem).split())
    if isinstance(problem, TimeoutError) and not text:
        text = "it took longer than it may"
    return redact(text or type(problem).__name__)[:_ERROR_LENGTH]
