"""What the stores promise on every back end, and what they ask of a Redis client."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Awaitable, Mapping, Sequence
    from datetime import timedelta

    from shared.durable.records import (
        CancelOutcome,
        CheckpointSummary,
        ContextAge,
        DeadJob,
        Dedupe,
        Enqueued,
        EventPage,
        JobState,
        JsonObject,
        LeasedJob,
        LoopContext,
        LoopEvent,
        QueueCounts,
        QueuedJob,
        QueueLease,
        Reclaimed,
        ReleaseOutcome,
        Renewal,
        RetainedContext,
        RunRecord,
        StoredEvent,
    )


class AsyncRedisClient(Protocol):
    """The methods of an asynchronous client that the adapters use; they only await them."""

    def eval(self, script: str, numkeys: int, /, *keys_and_args: Any) -> Awaitable[Any]:
        """Run a script on the server."""

    def get(self, name: str, /) -> Awaitable[Any]:
        """Read one string."""

    def mget(self, keys: Sequence[str], /) -> Awaitable[Any]:
        """Read several strings, in order."""

    def zrevrange(self, name: str, start: int, end: int, /) -> Awaitable[Any]:
        """Read members of a sorted set from the highest score down."""

    def xadd(
        self,
        name: str,
        fields: Mapping[Any, Any],
        /,
        id: str = "*",  # noqa: A002 - the clients' own name
        *,
        maxlen: int | None = None,
    ) -> Awaitable[Any]:
        """Append to a stream."""

    def xrange(
        self,
        name: str,
        /,
        min: str = "-",  # noqa: A002 - the clients' own name
        max: str = "+",  # noqa: A002 - the clients' own name
        count: int | None = None,
    ) -> Awaitable[Any]:
        """Read a stream from one id to another."""

    def aclose(self) -> Awaitable[Any]:
        """Close the client; the adapters never call this."""


class StagingClient(Protocol):
    """What large checkpoints can be handed over by; nothing else needs it."""

    def set(self, name: str, value: bytes, /, *, px: int) -> Awaitable[Any]:
        """Store a string that leaves by itself after so many milliseconds."""


class CheckpointStore(Protocol):
    """The exact point at which a run continues, replaced by compare-and-set."""

    async def save(
        self, context: LoopContext, expected_revision: int | None = None, *, lease: QueueLease | None = None
    ) -> int:
        """Store the context over the expected revision, by default its own; answer the new revision.

        A time-out leaves the outcome unknown: load again and compare revisions before acting.
        Raises CheckpointConflictError, LeaseLostError, PayloadError.
        """

    async def load(self, run_id: str) -> LoopContext | None:
        """Return the checkpoint, None when there is none. Raises PayloadError when it is damaged."""

    async def delete(self, run_id: str, expected_revision: int | None = None) -> bool:
        """Remove that revision, or whatever is stored; False when there is nothing."""

    async def list_recent(self, limit: int = 100, offset: int = 0) -> Sequence[CheckpointSummary]:
        """Return the latest saved first; empty where listing is off."""


class QueueBackend(Protocol):
    """Leased jobs, delivered at least once; an id is in exactly one place."""

    @property
    def lease_seconds(self) -> float:
        """How long a lease lasts."""

    async def enqueue(
        self, job: QueuedJob, *, delay: timedelta | None = None, dedupe: Dedupe | None = None
    ) -> Enqueued:
        """Add the job unless its id, or its dedupe key, is there already. Raises CapacityExceededError."""

    async def lease(self, worker_id: str, *, wait: timedelta | None = None) -> QueueLease | None:
        """Take the next job, waiting for one at most so long; None when there is none."""

    async def renew(self, lease: QueueLease) -> Renewal:
        """Prolong the lease by its full length from now. Raises LeaseLostError."""

    async def acknowledge(self, lease: QueueLease) -> None:
        """The job is done and gone. Raises LeaseLostError."""

    async def release(
        self,
        lease: QueueLease,
        *,
        delay: timedelta | None = None,
        counts: bool = True,
        error: str | None = None,
    ) -> ReleaseOutcome:
        """Give the job back; a shutdown or a snooze does not count as an attempt. Raises LeaseLostError."""

    async def cancel(self, job_id: str) -> CancelOutcome:
        """Stop a waiting job, mark a leased one; code that already runs is not interrupted."""

    async def reclaim(self, limit: int = 100) -> Reclaimed:
        """Put jobs of expired leases back, and due ones forward; for a janitor on an idle queue."""

    async def state(self, job_id: str) -> JobState | None:
        """Return where the job is; None when it was finished, cancelled or never there."""

    async def counts(self) -> QueueCounts:
        """How many jobs are where."""

    async def leased(self, limit: int = 100) -> Sequence[LeasedJob]:
        """Return who holds what, the first lease to run out first; one that has run out may still be here."""

    async def dead(self, limit: int = 100) -> Sequence[DeadJob]:
        """Return the jobs that used up their attempts, the latest first."""

    async def requeue_dead(self, *job_ids: str) -> int:
        """Give dead jobs all their attempts again; answer how many."""

    async def purge_dead(self, older_than: timedelta, limit: int = 1000) -> int:
        """Forget jobs that have been dead for so long; answer how many."""


class RunRepository(Protocol):
    """State and outcome of runs, for control surfaces."""

    async def create(self, record: RunRecord) -> None:
        """Store a new record. Raises RunConflictError when there is one."""

    async def get(self, run_id: str) -> RunRecord | None:
        """Return the record, None when there is none."""

    async def list_recent(self, limit: int = 100, offset: int = 0) -> Sequence[RunRecord]:
        """Return the latest created first."""

    async def compare_and_set(self, record: RunRecord, expected_version: int) -> RunRecord:
        """Store the record as version `expected_version + 1` and answer it so. Raises RunConflictError."""

    async def delete(self, run_id: str, expected_version: int | None = None) -> bool:
        """Remove that version, or whatever is stored; False when there is nothing."""


class EventPublisher(Protocol):
    """The events of a run in order, bounded in number."""

    async def publish(self, event: LoopEvent, *, sequence: int | None = None) -> str:
        """Append and answer the id; repeating the event of one sequence number changes nothing.

        Sequence numbers begin at 1 and have no holes. Raises EventConflictError for another event.
        """

    async def read(self, run_id: str, after: str | None = None, limit: int = 100) -> Sequence[StoredEvent]:
        """Return the events after the cursor, which is exclusive."""

    async def page(self, run_id: str, after: str | None = None, limit: int = 100) -> EventPage:
        """Like `read`, and say exactly how many events were trimmed before the first one."""

    async def delete(self, run_id: str) -> bool:
        """Remove all events of the run; False when there are none."""


class ContextStore(Protocol):
    """Immutable revisions of a run's context, each of the three ages with its own retention."""

    async def append(self, run_id: str, content: JsonObject, expected_revision: int) -> int:
        """Store the next revision over the expected latest one, 0 for the first.

        Raises ContextConflictError.
        """

    async def load(self, run_id: str, revision: int | None = None) -> RetainedContext | None:
        """Return that revision, by default the latest; None when there is none."""

    async def settle(self, run_id: str, age: ContextAge) -> bool:
        """Let the retention of that age count from now; False when there is no context."""

    async def delete(self, run_id: str) -> bool:
        """Remove every revision; False when there is none."""
