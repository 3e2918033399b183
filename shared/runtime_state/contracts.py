"""What both back ends promise, and how they refuse.

Keys, fields and values are bytes here: the facade has encoded them, so that no back end reads an argument in
its own way. A command that does not stand in `RuntimeStateCommands` exists on no back end.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, ClassVar, Protocol, TypeVar

from shared.kernel.errors import AppError, Kind

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from shared.runtime_state.operations import Operation

#: A name as callers write it, without the prefix.
Key = str | bytes
#: What can be stored; an integer is stored as its decimal text, and everything is read back as bytes.
Value = str | bytes | int
#: The names of a mapping's fields: all text, all bytes, or both.
Name = TypeVar("Name", bound=Key)
#: A lifetime in whole seconds.
Seconds = int | timedelta


class RuntimeStateUnavailable(AppError):
    """The temporary state cannot be reached right now. Try again."""

    kind: ClassVar[Kind] = Kind.UNAVAILABLE
    code: ClassVar[str] = "RUNTIME_STATE_UNAVAILABLE"
    usual_pause: ClassVar[timedelta] = timedelta(seconds=1)

    def __init__(self, detail: str | None = None, *, retry_after: timedelta | None = None) -> None:
        """Refuse, and always say when another attempt makes sense."""
        super().__init__(detail, retry_after=retry_after or self.usual_pause)


class RuntimeStateCapacityExceeded(RuntimeStateUnavailable):
    """The temporary state is full. Try again later, or ask for less at once."""

    code: ClassVar[str] = "RUNTIME_STATE_CAPACITY_EXCEEDED"
    usual_pause: ClassVar[timedelta] = timedelta(seconds=30)


class RuntimeStateUsageError(Exception):
    """The caller's own mistake, a bug: nothing was changed, and no client is shown the text."""


class RuntimeStateArgumentError(RuntimeStateUsageError, ValueError):
    """An argument that no back end accepts; refused before anything is sent or written."""


class RuntimeStateTypeError(RuntimeStateUsageError, TypeError):
    """A string command met a hash, or a hash command met a string."""


class RuntimeStateValueError(RuntimeStateUsageError, ValueError):
    """The stored value is not what the command needs, such as `incr` of a text."""


class RuntimeStateBatchSpent(RuntimeStateUsageError):
    """A batch is executed once; fill a new one."""


class RuntimeStateCommands(Protocol):
    """The registered commands. Missing reads as None, a TTL of -2 is missing and of -1 is without expiry."""

    async def ping(self) -> bool:
        """Whether the store answers."""
        ...

    async def set(self, key: bytes, value: bytes, *, ex: int | None = None, nx: bool = False) -> bool:
        """Store a string over whatever was there, or with `nx` only where nothing was. False: not stored."""
        ...

    async def get(self, key: bytes) -> bytes | None:
        """The string."""
        ...

    async def incr(self, key: bytes) -> int:
        """Add one to a canonical decimal within 64 bits; a missing key counts from 0. The TTL stays."""
        ...

    async def delete(self, *keys: bytes) -> int:
        """Remove; answers how many were there."""
        ...

    async def expire(self, key: bytes, seconds: int) -> bool:
        """Replace the TTL; zero or less removes the key. False: there is no such key."""
        ...

    async def ttl(self, key: bytes) -> int:
        """Seconds left, rounded to the nearest: 0 can still be alive."""
        ...

    async def hset(self, key: bytes, mapping: Mapping[bytes, bytes]) -> int:
        """Store fields; answers how many are new. The TTL stays."""
        ...

    async def hget(self, key: bytes, field: bytes) -> bytes | None:
        """One field."""
        ...

    async def hmget(self, key: bytes, fields: Sequence[bytes]) -> list[bytes | None]:
        """Fields in the order asked for."""
        ...

    async def hgetall(self, key: bytes) -> dict[bytes, bytes]:
        """Every field; a missing key has none."""
        ...


class RuntimeStateBatch(Protocol):
    """Writes that happen together or not at all. Filling it does nothing yet."""

    def set(self, key: Key, value: Value, *, ex: Seconds | None = None, nx: bool = False) -> None:
        """As the command."""
        ...

    def hset(self, key: Key, mapping: Mapping[Name, Value]) -> None:
        """As the command."""
        ...

    def expire(self, key: Key, seconds: Seconds) -> None:
        """As the command."""
        ...

    def delete(self, *keys: Key) -> None:
        """As the command."""
        ...

    async def execute(self) -> list[bool | int]:
        """Carry out all, in order, in one step that no reader sees half of; one answer for each.

        A type clash, a refusal for size or an outage leaves everything as it was, except that an outage while
        the answer is awaited leaves it unknown whether all or nothing was done.
        """
        ...


@dataclass(frozen=True, slots=True)
class SweepReport:
    """What one pass of a sweep did; the times are without the pauses between slices."""

    removed: int = 0
    slices: int = 0
    #: By the wall's clock, so with whatever else the machine did meanwhile.
    seconds: float = 0.0
    #: What it cost this thread.
    processor_seconds: float = 0.0
    #: The longest time under the lock.
    longest_hold_seconds: float = 0.0
    #: False: the pass ended at its budget, and more may have expired.
    complete: bool = True


@dataclass(frozen=True, slots=True)
class Holdings:
    """What a back end knows of its own fill; None where only the server could tell."""

    active_keys: int | None
    approx_bytes: int | None
    max_bytes: int | None
    capacity_rejections: int


@dataclass(frozen=True, slots=True)
class RuntimeStateStats:
    """Aggregates for `/metrics/runtime-state`: no key, no value, no address.

    `active_keys` counts what is held, in memory also what expired and awaits the next sweep.
    """

    backend: str
    ephemeral: bool
    active_keys: int | None
    approx_bytes: int | None
    max_bytes: int | None
    capacity_rejections: int
    sweep_count: int
    sweep_failures: int
    last_sweep_at: datetime | None
    last_sweep_seconds: float | None


class RuntimeStateBackend(RuntimeStateCommands, Protocol):
    """A back end: the registered commands, and what the facade needs to run it."""

    @property
    def name(self) -> str:
        """`memory` or `redis`."""
        ...

    @property
    def ephemeral(self) -> bool:
        """Whether everything is gone when this process ends."""
        ...

    async def apply(self, operations: Iterable[Operation]) -> list[bool | int]:
        """Execute a batch: all or nothing."""
        ...

    async def sweep_expired(self) -> SweepReport:
        """Remove what has expired, where nothing else does: one pass, as much as one may."""
        ...

    async def holdings(self, prefix: bytes) -> Holdings:
        """How full it is; counts only keys under the prefix."""
        ...

    async def aclose(self) -> None:
        """Let go of every connection and every value."""
        ...
