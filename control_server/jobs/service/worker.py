"""A worker process as others see it: its heartbeat, its results, and all its queues at once."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

import structlog

from control_server.jobs.repository import JobRepository
from control_server.jobs.schemas import JobEnd, JobKind, JobOutcome
from control_server.jobs.service.performing import Performer
from control_server.jobs.service.runner import JobRunner, instant_of
from control_server.metrics import JobMetrics
from control_server.settings import JobSettings
from shared.database import Database
from shared.durable import QueueBackend
from shared.kernel.clock import Clock
from shared.kernel.tasks import end

log = structlog.get_logger(__name__)

#: A worker that was not heard for so long is gone and no longer shown.
_FORGOTTEN = timedelta(minutes=10)
_REMEMBERED = {JobOutcome.DONE, JobOutcome.FAILED, JobOutcome.DEAD}


@dataclass(slots=True)
class Worker:
    """Everything that one process does with the queues."""

    worker_id: str
    database: Database
    metrics: JobMetrics
    now: Clock
    started_at: datetime
    runners: list[JobRunner] = field(default_factory=list)

    def serve(
        self, queue: str, backend: QueueBackend, kinds: Sequence[JobKind], settings: JobSettings
    ) -> None:
        """Also take the jobs of this queue."""
        known = {kind.name: kind for kind in kinds if kind.queue == queue}
        runner = JobRunner(
            queue=queue,
            performer=Performer(backend, known),
            worker_id=self.worker_id,
            concurrency=settings.concurrency,
            grace=settings.grace,
            now=self.now,
            ended=self.note,
        )
        self.runners.append(runner)

    @property
    def leaves_within(self) -> timedelta:
        """How long it takes to leave in order, at most."""
        return max(runner.leaves_within for runner in self.runners)

    async def run(self) -> None:
        """Work until cancelled, then leave without a trace."""
        tasks = [asyncio.create_task(runner.run(), name=f"queue {runner.queue}") for runner in self.runners]
        try:
            await asyncio.wait(tasks, return_when=asyncio.FIRST_EXCEPTION)
        finally:
            await end(*tasks, again_seconds=self.leaves_within.total_seconds())
            async with self.database.transaction() as session:
                await JobRepository(session).remove_worker(self.worker_id)

    async def beat(self) -> None:
        """Say that this worker lives and what it holds."""
        held = [job for runner in self.runners for job in runner.held.values()]
        at = self.now()
        async with self.database.transaction() as session:
            workers = JobRepository(session)
            await workers.write_heartbeat(
                {
                    "id": self.worker_id,
                    "started_at": self.started_at,
                    "seen_at": at,
                    "running": [job.model_dump(mode="json") for job in held],
                }
            )
            await workers.remove_workers_before(at - _FORGOTTEN)

    async def note(self, end: JobEnd) -> None:
        """Count an end and remember it as the last of its kind."""
        self.metrics.attempts.labels(end.kind, end.outcome.value).inc()
        self.metrics.seconds.labels(end.kind).observe(end.took.total_seconds())
        if end.outcome not in _REMEMBERED:
            return
        try:
            async with self.database.transaction() as session:
                await JobRepository(session).write_result(instant_of(end, self.now()))
        except Exception as error:  # noqa: BLE001 - the job itself is settled
            log.warning("job.result_not_written", kind=end.kind, error=type(error).__name__)
