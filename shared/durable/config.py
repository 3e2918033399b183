"""How the durable stores behave: never where they are or how one signs in there."""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from datetime import timedelta
from typing import TYPE_CHECKING

from shared.durable.records import ContextAge

if TYPE_CHECKING:
    from shared.durable.doorbell import Doorbell


@dataclass(frozen=True, slots=True)
class DurableConfig:
    """Behaviour that the five stores of one prefix share."""

    prefix: str = "routeloom"
    lease_seconds: float = 60.0
    event_max_length: int = 10_000

    def __post_init__(self) -> None:
        """Refuse what could never work."""
        if not self.prefix or any(sign.isspace() or not sign.isprintable() for sign in self.prefix):
            raise ValueError("prefix must be printable text without white space")
        if self.lease_seconds <= 0:
            raise ValueError("lease_seconds must be positive")
        if self.event_max_length < 1:
            raise ValueError("event_max_length must be at least 1")

    @property
    def lease_milliseconds(self) -> int:
        """The lease in the servers' unit."""
        return max(1, round(self.lease_seconds * 1000))


@dataclass(frozen=True, slots=True)
class RedisConfig(DurableConfig):
    """Behaviour of the adapters on Valkey or Redis."""


@dataclass(frozen=True, slots=True)
class SqlConfig(DurableConfig):
    """Behaviour of the adapters on PostgreSQL or SQLite."""


@dataclass(frozen=True, slots=True)
class ContextRetentionPolicy:
    """Three ages in seconds: of a context in work, of a finished one, of a failed one."""

    working_seconds: int
    finished_seconds: int
    failed_seconds: int

    def __post_init__(self) -> None:
        """Every age is positive: a context without an age would never leave."""
        if min(self.working_seconds, self.finished_seconds, self.failed_seconds) <= 0:
            raise ValueError("every age must be positive")

    def seconds(self, age: ContextAge) -> int:
        """The retention of that age."""
        return {
            ContextAge.WORKING: self.working_seconds,
            ContextAge.FINISHED: self.finished_seconds,
            ContextAge.FAILED: self.failed_seconds,
        }[age]


@dataclass(frozen=True, slots=True)
class Retention:
    """What a store forgets by itself and whether it can list; both off unless asked for.

    `keep` counts from the last write; a run record starts to age only when its run has ended.
    """

    keep: timedelta | None = None
    listed: bool = False

    @property
    def milliseconds(self) -> int:
        """The age in the servers' unit; 0 keeps for ever."""
        return 0 if self.keep is None else max(1, round(self.keep / timedelta(milliseconds=1)))


@dataclass(frozen=True, slots=True)
class Backoff:
    """Growing pause before a retry; the spread keeps failed jobs from returning in step."""

    first: timedelta = timedelta(seconds=1)
    ceiling: timedelta = timedelta(minutes=10)
    factor: float = 2.0
    jitter: float = 0.2

    def pause(self, attempt: int) -> timedelta:
        """The pause after this many attempts, the first being 1."""
        grown = self.first.total_seconds() * self.factor ** min(max(attempt, 1) - 1, 40)
        spread = random.uniform(1 - self.jitter, 1 + self.jitter)  # noqa: S311 - not a secret
        return timedelta(seconds=min(grown, self.ceiling.total_seconds()) * spread)


@dataclass(frozen=True, slots=True)
class QueuePolicy:
    """What the queue does beyond leasing; every part is off by default."""

    #: A job that was leased so often and not acknowledged is dead; 0 tries for ever.
    max_attempts: int = 0
    #: The pause before a released job returns; None returns it at once.
    backoff: Backoff | None = None
    #: At most so many jobs are leased at a time, over all workers; 0 is no limit.
    max_leased: int = 0
    #: At most so many jobs are held in all, the dead included; 0 is no limit.
    max_jobs: int = 0
    #: Expired leases and due jobs that one call moves at most.
    sweep_limit: int = 100
    #: What an idle worker waits on; None polls.
    doorbell: Doorbell | None = field(default=None, compare=False)
