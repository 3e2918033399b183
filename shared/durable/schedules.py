"""Jobs that return at an interval: the server's window decides which of many processes enqueues."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from uuid import uuid4

from shared.durable.records import Dedupe, QueuedJob

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import timedelta

    from shared.durable.protocols import QueueBackend
    from shared.durable.records import JsonObject


@dataclass(frozen=True, slots=True)
class Schedule:
    """One kind of job, at most once an interval however many processes ask."""

    name: str
    every: timedelta
    kind: str
    payload: JsonObject = field(default_factory=dict)


async def enqueue_due(queue: QueueBackend, schedules: Iterable[Schedule]) -> int:
    """Enqueue what is due and answer how many; call it more often than the shortest interval."""
    created = 0
    for schedule in schedules:
        job = QueuedJob(f"{schedule.name}:{uuid4().hex}", schedule.kind, dict(schedule.payload))
        enqueued = await queue.enqueue(job, dedupe=Dedupe(f"schedule:{schedule.name}", schedule.every))
        created += enqueued.created
    return created
