"""Refusals of the durable stores; network errors of a client or driver pass through unchanged."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, ClassVar, Self

from shared.kernel.errors import AppError, Kind

if TYPE_CHECKING:
    from collections.abc import Iterator


class PayloadError(AppError):
    """What is stored cannot be read: damaged, of an unknown schema, or an odd reply of the server."""

    kind: ClassVar = Kind.UNAVAILABLE
    code: ClassVar = "durable_payload_unreadable"


class RedisPayloadError(PayloadError):
    """What Redis holds or answered cannot be read: damaged, of an unknown schema, or of an odd shape."""

    code: ClassVar = "durable_redis_payload_unreadable"


class CheckpointConflictError(AppError):
    """The checkpoint has another revision than the caller expected; load it again."""

    kind: ClassVar = Kind.CONFLICT
    code: ClassVar = "checkpoint_conflict"

    def __init__(self, run_id: str, expected: int, current: int | None) -> None:
        """Name both revisions; `current` is None when nothing is stored."""
        self.run_id, self.expected, self.current = run_id, expected, current
        found = "nothing" if current is None else f"revision {current}"
        super().__init__(f"Checkpoint of run {run_id}: expected revision {expected}, found {found}.")


class RunConflictError(AppError):
    """The run record has another version than the caller expected; read it again."""

    kind: ClassVar = Kind.CONFLICT
    code: ClassVar = "run_conflict"

    def __init__(self, run_id: str, expected: int | None, current: int | None) -> None:
        """Name both versions; None stands for no record."""
        self.run_id, self.expected, self.current = run_id, expected, current
        super().__init__(f"Run {run_id}: expected version {expected}, found {current}.")


class ContextConflictError(AppError):
    """The retained context has another revision than the caller expected."""

    kind: ClassVar = Kind.CONFLICT
    code: ClassVar = "context_conflict"

    @classmethod
    def of(cls, run_id: str, expected: int, found: int) -> Self:
        """Name both revisions; 0 stands for nothing."""
        return cls(f"Context of run {run_id}: expected revision {expected}, found {found}.")


class EventConflictError(AppError):
    """Another event already has this sequence number."""

    kind: ClassVar = Kind.CONFLICT
    code: ClassVar = "event_conflict"


class LeaseLostError(AppError):
    """The lease has expired or belongs to somebody else; whatever was computed under it is void."""

    kind: ClassVar = Kind.CONFLICT
    code: ClassVar = "lease_lost"


class CapacityExceededError(AppError):
    """The durable store is full; nothing of this request was written. Try again later."""

    kind: ClassVar = Kind.UNAVAILABLE
    code: ClassVar = "durable_capacity_exceeded"


class PrefixRefusedError(AppError):
    """The keys of this prefix do not share one hash slot."""

    kind: ClassVar = Kind.INVALID
    code: ClassVar = "durable_prefix_refused"


class IdentifierRefusedError(AppError):
    """An identifier is 1 to 200 letters, digits or `._:@/+=,~-`, and not the reserved word `index`."""

    kind: ClassVar = Kind.INVALID
    code: ClassVar = "durable_identifier_refused"


@contextmanager
def naming_capacity() -> Iterator[None]:
    """Turn the server's refusal at its memory limit into the typed one; everything else passes.

    The adapters accept any client, so the refusal is known by the server's own words: clients differ
    in whether they keep the reply's `OOM` prefix, and the limit's name stands in every such reply.
    """
    try:
        yield
    except Exception as error:
        text = str(error)
        if text.startswith("OOM") or "'maxmemory'" in text:
            raise CapacityExceededError from error
        raise
