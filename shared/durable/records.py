"""What the durable stores hold and answer."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any

#: A JSON object; what is stored is JSON and nothing else.
JsonObject = dict[str, Any]


@dataclass(slots=True)
class LoopContext:
    """All that exact resumption needs: plan, step cursor, human feedback, results awaiting verification."""

    run_id: str
    plan: list[Any] = field(default_factory=list)
    cursor: JsonObject = field(default_factory=dict)
    feedback: list[Any] = field(default_factory=list)
    awaiting: JsonObject = field(default_factory=dict)
    metadata: JsonObject = field(default_factory=dict)
    revision: int = 0


@dataclass(frozen=True, slots=True)
class CheckpointSummary:
    """One row of the list of checkpoints."""

    run_id: str
    updated_at: datetime


@dataclass(frozen=True, slots=True)
class QueuedJob:
    """One piece of work; the id is the idempotency key of whoever enqueues it."""

    job_id: str
    kind: str
    payload: JsonObject = field(default_factory=dict)
    run_id: str | None = None


@dataclass(frozen=True, slots=True)
class Dedupe:
    """Within the window, at most one job is enqueued for this key, even after it was finished."""

    key: str
    window: timedelta


@dataclass(frozen=True, slots=True)
class Enqueued:
    """The id of the job that stands for the request; `created` is False when it was there before."""

    job_id: str
    created: bool


@dataclass(frozen=True, slots=True)
class QueueLease:
    """A job in one worker's hands until `expires_at` of the server's clock.

    `fence` grows with every delivery of the job, so a third system can refuse an older holder.
    """

    lease_id: str
    job: QueuedJob
    worker_id: str
    expires_at: datetime
    attempt: int
    fence: int


@dataclass(frozen=True, slots=True)
class Renewal:
    """A lease that was prolonged; `cancel_requested` tells that somebody asked to stop the job."""

    expires_at: datetime
    cancel_requested: bool


class JobState(StrEnum):
    """Where a job is; it is in exactly one place."""

    PENDING = "pending"
    DELAYED = "delayed"
    LEASED = "leased"
    DEAD = "dead"


class CancelOutcome(StrEnum):
    """What a cancellation did: stopped a waiting job, marked a leased one, or met none."""

    STOPPED = "stopped"
    MARKED = "marked"
    UNKNOWN = "unknown"


class ReleaseOutcome(StrEnum):
    """Where a released job went."""

    WAITING = "waiting"
    DEAD = "dead"
    CANCELLED = "cancelled"


@dataclass(frozen=True, slots=True)
class DeadJob:
    """A job that used up its attempts; `job` is None when what is stored of it cannot be read."""

    job_id: str
    job: QueuedJob | None
    attempts: int
    died_at: datetime
    error: str | None


@dataclass(frozen=True, slots=True)
class LeasedJob:
    """A job in a worker's hands until it is done, renewed or runs out."""

    job_id: str
    job: QueuedJob | None
    worker_id: str
    attempts: int
    expires_at: datetime


@dataclass(frozen=True, slots=True)
class QueueCounts:
    """How many jobs are where, and how long the first one waits already."""

    pending: int
    delayed: int
    leased: int
    dead: int
    oldest_wait: timedelta


@dataclass(frozen=True, slots=True)
class Reclaimed:
    """What a sweep did with expired leases."""

    waiting: int
    dead: int
    cancelled: int


class RunState(StrEnum):
    """Where a run is."""

    QUEUED = "queued"
    RUNNING = "running"
    PAUSED = "paused"
    BLOCKED = "blocked"
    COMPLETED = "completed"
    FAILED = "failed"
    CANCELLED = "cancelled"

    @property
    def ended(self) -> bool:
        """No further change is expected."""
        return self in {RunState.COMPLETED, RunState.FAILED, RunState.CANCELLED}


@dataclass(frozen=True, slots=True)
class RunRecord:
    """State and outcome of a run for control surfaces; `version` starts at 0 and grows by one."""

    run_id: str
    kind: str
    state: RunState
    created_at: datetime
    updated_at: datetime
    request: JsonObject = field(default_factory=dict)
    outcome: JsonObject | None = None
    error: str | None = None
    version: int = 0


@dataclass(frozen=True, slots=True)
class LoopEvent:
    """Something that happened in a run."""

    run_id: str
    kind: str
    at: datetime
    payload: JsonObject = field(default_factory=dict)
    checkpoint: LoopContext | None = None


@dataclass(frozen=True, slots=True)
class StoredEvent:
    """An event with the cursor that continues after it."""

    event_id: str
    event: LoopEvent


@dataclass(frozen=True, slots=True)
class EventPage:
    """Events after a cursor and the cursor to go on with.

    `gap` counts exactly the events that were trimmed between the cursor and the first one here. `reset`
    tells that the stream began anew: read it from the start.
    """

    events: tuple[StoredEvent, ...]
    cursor: str | None
    gap: int = 0
    reset: bool = False


class ContextAge(StrEnum):
    """Which of the three retention ages holds for a context."""

    WORKING = "working"
    FINISHED = "finished"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class RetainedContext:
    """One immutable revision of a run's context."""

    run_id: str
    revision: int
    content: JsonObject
