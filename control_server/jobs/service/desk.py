"""What people see of background jobs, and what they do with the dead.

No session is held while a queue is asked: in SQL the queue needs the same only writer.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, TypeVar

from control_server.audit.service import Audit
from control_server.durable import Durable
from control_server.jobs.errors import JobKindNotFound, JobsUnavailable, QueueNotFound
from control_server.jobs.models import JobWorker
from control_server.jobs.repository import JobRepository
from control_server.jobs.schemas import (
    DeadJobRead,
    JobKind,
    JobsRead,
    LeaseRead,
    QueueRead,
    ResultRead,
    RunningRead,
    ScheduleRead,
    WorkerRead,
)
from shared.database import Database
from shared.durable import DeadJob, LeasedJob, QueueBackend, QueuedJob
from shared.kernel.clock import Clock
from shared.kernel.errors import AppError
from shared.kernel.ids import short_id
from shared.kernel.principal import Principal

#: Three heartbeats.
_ALIVE = timedelta(seconds=35)
_AT_ONCE = 500

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class JobDesk:
    """The queues as operators handle them."""

    database: Database
    durable: Durable
    kinds: Sequence[JobKind]
    now: Clock
    #: The audit trail inside a session.
    audit: Callable[[Any], Audit]

    async def overview(self) -> JobsRead:
        """Queues, workers and schedules. Raises JobsUnavailable."""
        queues = [await self._read_queue(name, queue) for name, queue in self.durable.queues.items()]
        leases = [lease for name in self.durable.queues for lease in await self._leases(name)]
        async with self.database.reading() as session:
            jobs = JobRepository(session)
            workers = [self._read_worker(row, leases) for row in await jobs.list_workers()]
            results = await jobs.list_results()
        schedules = [
            ScheduleRead(
                kind=kind.name,
                every_seconds=kind.every.total_seconds() if kind.every else None,
                by_hand=kind.by_hand,
                last=ResultRead.model_validate(results[kind.name]) if kind.name in results else None,
            )
            for kind in self.kinds
            if kind.every is not None or kind.by_hand
        ]
        return JobsRead(
            kept_in=self.durable.kind,
            queues=queues,
            workers=workers,
            leases=leases,
            schedules=schedules,
        )

    async def dead(self, queue: str | None = None, limit: int = 100) -> list[DeadJobRead]:
        """Dead jobs of one queue or of all, the latest first. Raises QueueNotFound, JobsUnavailable."""
        names = list(self.durable.queues) if queue is None else [queue]
        found = [
            _read_dead(name, job) for name in names for job in await _asked(self._queue(name).dead(limit))
        ]
        return sorted(found, key=lambda job: job.died_at, reverse=True)[:limit]

    async def requeue(self, actor: Principal, queue: str, job_ids: Sequence[str]) -> int:
        """Give dead jobs all their attempts again; no ids mean all of them."""
        backend = self._queue(queue)
        wanted = list(job_ids) or [job.job_id for job in await _asked(backend.dead(_AT_ONCE))]
        moved = await _asked(backend.requeue_dead(*wanted)) if wanted else 0
        if moved:
            await self._note(actor, "jobs.requeued", queue, {"count": moved, "jobs": wanted[:20]})
        return moved

    async def purge(self, actor: Principal, queue: str, older_than: timedelta) -> int:
        """Forget jobs that have been dead for so long."""
        removed = await _asked(self._queue(queue).purge_dead(older_than))
        if removed:
            await self._note(actor, "jobs.purged", queue, {"count": removed})
        return removed

    async def start(self, actor: Principal, kind_name: str, *, force: bool = False) -> str:
        """Enqueue a job of this kind now. Raises JobKindNotFound."""
        kind = next((kind for kind in self.kinds if kind.name == kind_name and kind.by_hand), None)
        if kind is None:
            raise JobKindNotFound(f"No job of the kind {kind_name!r} can be started by hand.")
        if force and not kind.by_force:
            raise JobKindNotFound(f"No job of the kind {kind_name!r} can be started by force.")
        told = {"force": True} if force else {}
        job = QueuedJob(f"{kind.name}:{short_id()}", kind.name, told)
        await _asked(self._queue(kind.queue).enqueue(job))
        await self._note(actor, "jobs.started", kind.queue, {"kind": kind.name, **told})
        return job.job_id

    def _queue(self, name: str) -> QueueBackend:
        if name not in self.durable.queues:
            raise QueueNotFound(f"No queue is called {name!r}.")
        return self.durable.queues[name]

    async def _read_queue(self, name: str, queue: QueueBackend) -> QueueRead:
        counts = await _asked(queue.counts())
        return QueueRead(
            name=name,
            pending=counts.pending,
            delayed=counts.delayed,
            leased=counts.leased,
            dead=counts.dead,
            oldest_wait_seconds=counts.oldest_wait.total_seconds(),
            attempts=self.durable.attempts[name],
        )

    async def _leases(self, queue: str) -> list[LeaseRead]:
        return [_read_lease(queue, job) for job in await _asked(self._queue(queue).leased(_AT_ONCE))]

    def _read_worker(self, row: JobWorker, leases: Sequence[LeaseRead]) -> WorkerRead:
        """A worker, and of what its last heartbeat held only what is still leased to it.

        One that was killed never says that it holds nothing any more, and its jobs go on elsewhere.
        """
        held = {(lease.queue, lease.job_id, lease.attempt) for lease in leases if lease.worker_id == row.id}
        running = [RunningRead.model_validate(each) for each in row.running]
        return WorkerRead(
            worker_id=row.id,
            started_at=row.started_at,
            seen_at=row.seen_at,
            alive=self.now() - row.seen_at <= _ALIVE,
            running=[job for job in running if (job.queue, job.job_id, job.attempt) in held],
        )

    async def _note(self, actor: Principal, action: str, queue: str, after: dict[str, Any]) -> None:
        async with self.database.transaction() as session:
            self.audit(session).note(actor, action, ("job_queue", queue), after=after)


def _read_lease(queue: str, leased: LeasedJob) -> LeaseRead:
    return LeaseRead(
        queue=queue,
        job_id=leased.job_id,
        kind=leased.job.kind if leased.job else None,
        worker_id=leased.worker_id,
        attempt=leased.attempts,
        expires_at=leased.expires_at,
    )


def _read_dead(queue: str, dead: DeadJob) -> DeadJobRead:
    return DeadJobRead(
        queue=queue,
        job_id=dead.job_id,
        kind=dead.job.kind if dead.job else None,
        payload=dead.job.payload if dead.job else {},
        attempts=dead.attempts,
        died_at=dead.died_at,
        error=dead.error or "",
    )


async def _asked(question: Awaitable[T]) -> T:
    """What the store answers. Its refusals pass; whatever else its client raises means that it is away."""
    try:
        return await question
    except AppError:
        raise
    except Exception as error:
        raise JobsUnavailable(retry_after=timedelta(seconds=2)) from error
