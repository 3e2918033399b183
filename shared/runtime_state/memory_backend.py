"""`memory://<name>`: the state of one process, gone when it ends.

Each back end has its own state, also two of one name. Commands run under a thread lock and never await inside
it, so any number of tasks, event loops and threads may share one, and a cancelled caller cannot leave half a
write.
"""

from __future__ import annotations

import asyncio
import time
from threading import Lock
from typing import TYPE_CHECKING

from shared.runtime_state.contracts import Holdings, RuntimeStateCapacityExceeded, SweepReport
from shared.runtime_state.memory_store import (
    SLICE_BYTES,
    Increment,
    ItemTooLarge,
    MemoryLimits,
    MemoryStore,
    OverBudget,
)
from shared.runtime_state.operations import Delete, Expire, Operation, SetFields, SetValue

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

#: One pass of a sweep: two or three milliseconds for some two thousand small keys, about one for large pages,
#: of which the system takes back some ten MiB in a millisecond. The last slice may go beyond by one item.
PASS_SLICES = 8
PASS_BYTES = PASS_SLICES * SLICE_BYTES


class InMemoryRuntimeStateBackend:
    """Strings and hashes in dictionaries, within a budget of bytes."""

    name = "memory"
    ephemeral = True

    def __init__(
        self, limits: MemoryLimits | None = None, *, ticks: Callable[[], int] = time.monotonic_ns
    ) -> None:
        """Start empty. `ticks` is monotonic: a wall clock that jumps must change no lifetime."""
        self._limits = limits or MemoryLimits()
        self._store = MemoryStore(self._limits, ticks)
        self._lock = Lock()
        self._rejections = 0

    async def ping(self) -> bool:
        return True

    async def set(self, key: bytes, value: bytes, *, ex: int | None = None, nx: bool = False) -> bool:
        return bool(await self._write(SetValue(key, value, ex, nx)))

    async def get(self, key: bytes) -> bytes | None:
        with self._lock:
            return self._store.find_string(key)

    async def incr(self, key: bytes) -> int:
        return await self._write(Increment(key))

    async def delete(self, *keys: bytes) -> int:
        return await self._write(Delete(keys))

    async def expire(self, key: bytes, seconds: int) -> bool:
        return bool(await self._write(Expire(key, seconds)))

    async def ttl(self, key: bytes) -> int:
        with self._lock:
            return self._store.time_left(key)

    async def hset(self, key: bytes, mapping: Mapping[bytes, bytes]) -> int:
        return await self._write(SetFields(key, dict(mapping)))

    async def hget(self, key: bytes, field: bytes) -> bytes | None:
        with self._lock:
            return self._store.find_fields(key).get(field)

    async def hmget(self, key: bytes, fields: Sequence[bytes]) -> list[bytes | None]:
        with self._lock:
            held = self._store.find_fields(key)
            return [held.get(field) for field in fields]

    async def hgetall(self, key: bytes) -> dict[bytes, bytes]:
        with self._lock:
            return dict(self._store.find_fields(key))

    async def apply(self, operations: Iterable[Operation]) -> list[bool | int]:
        return await self._transact(list(operations))

    async def sweep_expired(self) -> SweepReport:
        """Remove what has expired, in slices, until nothing is left or this pass has spent its budget.

        Whoever waits is served between slices. Everything counts as gone the moment its slice is over, so a
        pass that ends early leaves the figures exact.
        """
        removed = slices = freed = 0
        spent = processor = longest = 0.0
        complete = False
        while slices < PASS_SLICES and freed < PASS_BYTES:
            began, processor_began = time.perf_counter(), time.thread_time()
            with self._lock:
                taken = time.perf_counter()
                expired = self._store.remove_expired_slice()
                longest = max(longest, time.perf_counter() - taken)
            count = len(expired)
            freed += sum(entry.size for entry in expired)
            del expired
            removed += count
            slices += count > 0
            spent += time.perf_counter() - began
            processor += time.thread_time() - processor_began
            complete = count == 0
            if complete:
                break
            await asyncio.sleep(0)
        return SweepReport(removed, slices, spent, processor, longest, complete)

    async def holdings(self, prefix: bytes) -> Holdings:
        # One facade, one prefix, one back end: all that is here is under it.
        del prefix
        with self._lock:
            return Holdings(len(self._store), self._store.size, self._limits.max_bytes, self._rejections)

    async def aclose(self) -> None:
        with self._lock:
            self._store.clear()

    async def _write(self, operation: Operation | Increment) -> bool | int:
        [answer] = await self._transact([operation])
        return answer

    async def _transact(self, operations: Sequence[Operation | Increment]) -> list[bool | int]:
        """Write within the budget; nothing live is refused while dead bytes could make room.

        Room is made a slice at a time, like a sweep: a large write over many dead keys must not hold the lock
        long.
        """
        expired: object = None
        while True:
            with self._lock:
                try:
                    return self._store.transact(operations)
                except ItemTooLarge:
                    self._rejections += 1
                    raise RuntimeStateCapacityExceeded(
                        "One item is larger than the temporary state takes. Ask for less at once."
                    ) from None
                except OverBudget:
                    expired = self._store.remove_expired_slice()
                    if not expired:
                        self._rejections += 1
                        raise RuntimeStateCapacityExceeded from None
            expired = None  # the lock is free again: now the pages may go
            await asyncio.sleep(0)
