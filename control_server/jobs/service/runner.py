"""Takes jobs of one queue and performs several at a time; stops without costing an attempt."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta

import structlog

from control_server.jobs.schemas import JobEnd, JobOutcome, RunningRead
from control_server.jobs.service.performing import GIVE_BACK_SECONDS, Performer
from shared.durable import QueueLease
from shared.kernel.clock import Clock
from shared.kernel.loops import check_cancelled
from shared.kernel.tasks import end

log = structlog.get_logger(__name__)

#: An idle worker asks anew after so long: no bell rings when a failed job is due again.
_WAIT = timedelta(seconds=5)
#: A job that was cancelled is given back within so long.
_LEAVE = timedelta(seconds=GIVE_BACK_SECONDS + 2)
#: Between two tries to reach a store that is away.
_PAUSE_SECONDS = 1.0


@dataclass(slots=True)
class JobRunner:
    """One queue in one process."""

    queue: str
    performer: Performer
    worker_id: str
    concurrency: int
    grace: timedelta
    now: Clock
    #: Told of each end.
    ended: Callable[[JobEnd], Awaitable[None]]
    _held: dict[str, RunningRead] = field(default_factory=dict)
    _tasks: set[asyncio.Task[None]] = field(default_factory=set)

    @property
    def held(self) -> Mapping[str, RunningRead]:
        """What it performs now, by lease."""
        return self._held

    @property
    def leaves_within(self) -> timedelta:
        """How long it takes to leave in order, at most."""
        return self.grace + 2 * _LEAVE

    async def run(self) -> None:
        """Take and perform until cancelled; then let jobs finish for the grace, and give back the rest."""
        free = asyncio.Semaphore(self.concurrency)
        try:
            while True:
                check_cancelled()
                await free.acquire()
                lease = await self._next()
                if lease is None:
                    free.release()
                    continue
                task = asyncio.create_task(self._perform(lease), name=f"job {lease.job.job_id}")
                self._tasks.add(task)
                task.add_done_callback(self._tasks.discard)
                task.add_done_callback(lambda _: free.release())
        finally:
            await self._stop()

    async def _next(self) -> QueueLease | None:
        try:
            return await self.performer.queue.lease(self.worker_id, wait=_WAIT)
        except Exception as error:  # noqa: BLE001 - any client's; the store comes back or the job is retaken
            log.warning("job.lease_failed", queue=self.queue, error=type(error).__name__)
            await asyncio.sleep(_PAUSE_SECONDS)
            return None

    async def _perform(self, lease: QueueLease) -> None:
        self._held[lease.lease_id] = RunningRead(
            queue=self.queue,
            job_id=lease.job.job_id,
            kind=lease.job.kind,
            attempt=lease.attempt,
            since=self.now(),
        )
        try:
            end = await self.performer.perform(lease)
        except asyncio.CancelledError:
            end = JobEnd(lease.job.kind, JobOutcome.STOPPED, timedelta(0))
        except Exception as error:
            log.exception("job.settling_failed", kind=lease.job.kind)
            end = JobEnd(lease.job.kind, JobOutcome.LOST, timedelta(0), type(error).__name__)
        finally:
            del self._held[lease.lease_id]
        await self.ended(end)

    async def _stop(self) -> None:
        if not self._tasks:
            return
        await asyncio.wait(self._tasks, timeout=self.grace.total_seconds())
        await end(*self._tasks, again_seconds=_LEAVE.total_seconds())


def instant_of(end: JobEnd, now: datetime) -> dict[str, object]:
    """The row of a result."""
    return {
        "kind": end.kind,
        "finished_at": now,
        "outcome": end.outcome.value,
        "milliseconds": round(end.took / timedelta(milliseconds=1)),
        "error": end.error,
    }
