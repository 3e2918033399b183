"""Keeps the queues moving when nobody leases: expired leases, schedules, and the numbers that are watched."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from control_server.jobs.schemas import JobKind
from control_server.metrics import JobMetrics
from shared.durable import QueueBackend, Schedule, enqueue_due


@dataclass(frozen=True, slots=True)
class Janitor:
    """Any number of them may work at once."""

    queues: Mapping[str, QueueBackend]
    kinds: Sequence[JobKind]
    metrics: JobMetrics

    async def sweep(self) -> None:
        """Put jobs of dead workers back, and enqueue what is due."""
        for name, queue in self.queues.items():
            reclaimed = await queue.reclaim()
            self.metrics.reclaimed.labels(name).inc(reclaimed.waiting + reclaimed.dead)
            due = [
                Schedule(kind.name, kind.every, kind.name)
                for kind in self.kinds
                if kind.queue == name and kind.every is not None
            ]
            await enqueue_due(queue, due)

    async def measure(self) -> None:
        """Bring the gauges up to date."""
        for name, queue in self.queues.items():
            counts = await queue.counts()
            for place in ("pending", "delayed", "leased", "dead"):
                self.metrics.jobs.labels(name, place).set(getattr(counts, place))
            self.metrics.oldest.labels(name).set(counts.oldest_wait.total_seconds())
