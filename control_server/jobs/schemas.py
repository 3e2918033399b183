"""What kinds of jobs there are made of, and the wire shapes of queues, workers and dead jobs."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from shared.durable import QueuedJob

KindName = Annotated[str, StringConstraints(max_length=60, pattern=r"^[a-z_.]+$")]
QueueName = Literal["notifications", "upkeep"]


@dataclass(frozen=True, slots=True)
class JobKind:
    """What a worker does with the jobs of one name. It runs at least once, so it must bear repetition."""

    name: str
    queue: str
    run: Callable[[QueuedJob], Awaitable[None]]
    #: Enqueued so often by the workers themselves.
    every: timedelta | None = None
    time_limit: timedelta = timedelta(minutes=5)
    #: Told when a job has used up its attempts, with the last error.
    died: Callable[[QueuedJob, str], Awaitable[None]] | None = None
    #: People may start it.
    by_hand: bool = False
    #: People who start it may ask for what it would hold back by itself.
    by_force: bool = False


class JobOutcome(StrEnum):
    """How one attempt ended."""

    DONE = "done"
    FAILED = "failed"
    DEAD = "dead"
    #: Somebody else took the job over, or the store did not answer; another attempt follows.
    LOST = "lost"
    #: The worker was told to stop; the attempt does not count.
    STOPPED = "stopped"


@dataclass(frozen=True, slots=True)
class JobEnd:
    """The end of one attempt."""

    kind: str
    outcome: JobOutcome
    took: timedelta
    error: str = ""


class RunningRead(BaseModel):
    """A job in a worker's hands."""

    queue: str
    job_id: str
    kind: str
    attempt: int
    since: datetime


class WorkerRead(BaseModel):
    """A process that works, as of its last heartbeat."""

    worker_id: str
    started_at: datetime
    seen_at: datetime
    alive: bool
    running: list[RunningRead]


class QueueRead(BaseModel):
    """How many jobs of one queue are where."""

    name: str
    pending: int
    delayed: int
    leased: int
    dead: int
    oldest_wait_seconds: float = Field(description="How long the first pending job waits already")
    attempts: int = Field(description="Attempts before a job is dead")


class ResultRead(BaseModel):
    """The last end of a kind of job."""

    model_config = ConfigDict(from_attributes=True)

    finished_at: datetime
    outcome: JobOutcome
    milliseconds: int
    error: str


class ScheduleRead(BaseModel):
    """Work that comes again and again, or that people start."""

    kind: str
    every_seconds: float | None
    by_hand: bool
    last: ResultRead | None


class LeaseRead(BaseModel):
    """A job in a worker's hands, as its queue has it."""

    queue: str
    job_id: str
    kind: str | None = Field(description="null where what is stored of it cannot be read")
    worker_id: str
    attempt: int
    expires_at: datetime = Field(description="Another worker takes it over then, unless this one renews")


class JobsRead(BaseModel):
    """Background work as a whole."""

    kept_in: Literal["server", "sql"] = Field(description="Where waiting jobs are")
    queues: list[QueueRead]
    workers: list[WorkerRead]
    leases: list[LeaseRead] = Field(description="The first to run out first, at most 100 of a queue")
    schedules: list[ScheduleRead]


class DeadJobRead(BaseModel):
    """A job that used up its attempts."""

    queue: str
    job_id: str
    kind: str | None = Field(description="null where what is stored of it cannot be read")
    payload: dict[str, Any]
    attempts: int
    died_at: datetime
    error: str


class DeadJobsRead(BaseModel):
    """The latest first."""

    items: list[DeadJobRead]


class RequeueRequest(BaseModel):
    """Which dead jobs get all their attempts again."""

    model_config = ConfigDict(extra="forbid")

    queue: QueueName
    job_ids: list[str] = Field(
        default=[], max_length=500, description="Empty: every dead job of the queue, at most 500 at a time"
    )


class PurgeRequest(BaseModel):
    """Which dead jobs are forgotten."""

    model_config = ConfigDict(extra="forbid")

    queue: QueueName
    older_than_seconds: int = Field(default=0, ge=0, le=366 * 86_400, description="Dead for at least so long")


class Moved(BaseModel):
    """How many jobs it was."""

    count: int


class StartRequest(BaseModel):
    """How a job is started."""

    model_config = ConfigDict(extra="forbid")

    force: bool = Field(default=False, description="With `registry.sync`: apply also what would be held")


class Started(BaseModel):
    """A job that was started by hand."""

    job_id: str
