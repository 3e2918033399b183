"""Strings and hashes with deadlines, every byte of them counted. The back end holds the lock.

`size` is by definition the bytes of every key, every string, and every field with its value: what was handed
in, not what Python spends to keep it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from shared.runtime_state.contracts import RuntimeStateTypeError, RuntimeStateValueError
from shared.runtime_state.deadlines import SECOND, Deadlines
from shared.runtime_state.operations import Delete, Expire, Operation, SetFields, SetValue

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

#: One slice of a sweep: a fraction of a millisecond for small keys, few pages to give back for large ones.
SLICE_KEYS = 256
SLICE_BYTES = 2**20

_CANONICAL_INTEGER = re.compile(rb"0|-?[1-9][0-9]{0,18}", re.ASCII)
_LARGEST_INTEGER = 2**63 - 1


@dataclass(frozen=True, slots=True)
class MemoryLimits:
    """How much may be held in all, and by one key."""

    max_bytes: int = 128 * 2**20
    max_item_bytes: int = 16 * 2**20


@dataclass(slots=True)
class Entry:
    """What one key holds; `size` leaves out the key."""

    value: bytes | dict[bytes, bytes]
    size: int
    deadline: int | None = None


@dataclass(frozen=True, slots=True)
class Increment:
    """`INCR key`; not for batches."""

    key: bytes


class OverBudget(Exception):
    """The writes would end above the budget; they were undone."""


class ItemTooLarge(Exception):
    """One key would hold more than any may; the writes were undone."""


Undo = list["Callable[[], None]"]


class MemoryStore:
    """The state itself."""

    def __init__(self, limits: MemoryLimits, ticks: Callable[[], int]) -> None:
        """Measure lifetimes with `ticks`, nanoseconds that never go back."""
        self._limits = limits
        self._ticks = ticks
        self._entries: dict[bytes, Entry] = {}
        self._deadlines = Deadlines()
        self.size = 0

    def __len__(self) -> int:
        """Keys held, the expired ones that no one has met yet included."""
        return len(self._entries)

    def find_string(self, key: bytes) -> bytes | None:
        """The string under the key."""
        entry = self._find(key)
        return None if entry is None else _string(entry)

    def find_fields(self, key: bytes) -> dict[bytes, bytes]:
        """The hash under the key, to be read at once and not to be kept; empty when missing."""
        entry = self._find(key)
        return {} if entry is None else _fields(entry)

    def time_left(self, key: bytes) -> int:
        """As the TTL command answers."""
        entry = self._find(key)
        if entry is None:
            return -2
        if entry.deadline is None:
            return -1
        return (entry.deadline - self._ticks() + SECOND // 2) // SECOND

    def transact(self, operations: Iterable[Operation | Increment]) -> list[bool | int]:
        """Carry out all of them, or raise and leave everything as it was. Judged on the final size."""
        undo: Undo = []
        try:
            answers = [self._carry_out(operation, undo) for operation in operations]
            self._check_budget()
        except BaseException:
            for step in reversed(undo):
                step()
            raise
        return answers

    def remove_expired_slice(self) -> list[Entry]:
        """Remove some of what has expired, and hand it over; empty when nothing is left to remove.

        Whoever called lets go of the entries after the lock: giving large pages back to the system takes
        longer than removing them here.
        """
        now = self._ticks()
        removed: list[Entry] = []
        freed = 0
        while len(removed) < SLICE_KEYS and freed < SLICE_BYTES:
            count = 0
            for key in self._deadlines.due(now, SLICE_KEYS - len(removed)):
                removed.append(self._release(key))
                freed += removed[-1].size
                count += 1
                if freed >= SLICE_BYTES:
                    break
            if count == 0:
                break
            self._deadlines.drop(count)
        return removed

    def clear(self) -> None:
        """Forget everything."""
        self._entries.clear()
        self._deadlines = Deadlines()
        self.size = 0

    def _find(self, key: bytes) -> Entry | None:
        entry = self._entries.get(key)
        if entry is not None and entry.deadline is not None and entry.deadline <= self._ticks():
            self._put(key, None)
            return None
        return entry

    def _carry_out(self, operation: Operation | Increment, undo: Undo) -> bool | int:
        match operation:
            case SetValue():
                return self._set(operation, undo)
            case SetFields(key, fields):
                return self._set_fields(key, fields, undo)
            case Expire(key, seconds):
                return self._expire(key, seconds, undo)
            case Delete(keys):
                return sum(self._delete(key, undo) for key in keys)
            case Increment(key):
                return self._increment(key, undo)

    def _set(self, wanted: SetValue, undo: Undo) -> bool:
        if wanted.only_if_absent and self._find(wanted.key) is not None:
            return False
        deadline = None if wanted.seconds is None else self._ticks() + wanted.seconds * SECOND
        self._replace(wanted.key, Entry(wanted.value, len(wanted.value), deadline), undo)
        return True

    def _set_fields(self, key: bytes, fields: dict[bytes, bytes], undo: Undo) -> int:
        entry = self._find(key)
        if entry is None:
            self._replace(key, Entry(dict(fields), _size_of(fields)), undo)
            return len(fields)
        held = _fields(entry)
        before = {name: held[name] for name in fields if name in held}
        growth = _size_of(fields) - _size_of(before)
        self._check_item(key, entry.size + growth)
        undo.append(partial(self._restore_fields, entry, before, fields))
        held.update(fields)
        entry.size += growth
        self.size += growth
        return len(fields) - len(before)

    def _restore_fields(self, entry: Entry, before: dict[bytes, bytes], written: dict[bytes, bytes]) -> None:
        held = _fields(entry)
        for name in written:
            del held[name]
        held.update(before)
        growth = _size_of(written) - _size_of(before)
        entry.size -= growth
        self.size -= growth

    def _expire(self, key: bytes, seconds: int, undo: Undo) -> bool:
        entry = self._find(key)
        if entry is None:
            return False
        if seconds <= 0:
            return self._delete(key, undo)
        self._replace(key, replace(entry, deadline=self._ticks() + seconds * SECOND), undo)
        return True

    def _delete(self, key: bytes, undo: Undo) -> bool:
        if self._find(key) is None:
            return False
        self._replace(key, None, undo)
        return True

    def _increment(self, key: bytes, undo: Undo) -> int:
        entry = self._find(key)
        text = b"0" if entry is None else _string(entry)
        if (
            _CANONICAL_INTEGER.fullmatch(text) is None
            or not -_LARGEST_INTEGER - 1 <= int(text) < _LARGEST_INTEGER
        ):
            raise RuntimeStateValueError("not a 64-bit integer that can be counted up")
        number = int(text) + 1
        raised = b"%d" % number
        self._replace(key, Entry(raised, len(raised), entry.deadline if entry else None), undo)
        return number

    def _replace(self, key: bytes, entry: Entry | None, undo: Undo) -> None:
        if entry is not None:
            self._check_item(key, entry.size)
        undo.append(partial(self._put, key, self._entries.get(key)))
        self._put(key, entry)

    def _check_budget(self) -> None:
        if self.size > self._limits.max_bytes:
            raise OverBudget

    def _check_item(self, key: bytes, size: int) -> None:
        if len(key) + size > self._limits.max_item_bytes:
            raise ItemTooLarge

    def _put(self, key: bytes, entry: Entry | None) -> None:
        """Let the key hold exactly this, and keep size and deadlines true."""
        before = self._entries.get(key)
        if before is not None:
            if before.deadline is not None:
                self._deadlines.discard(key, before.deadline)
            self._release(key)
        if entry is not None:
            self._entries[key] = entry
            self.size += len(key) + entry.size
            if entry.deadline is not None:
                self._deadlines.add(key, entry.deadline)

    def _release(self, key: bytes) -> Entry:
        """Take the entry out and its bytes off; its deadline is the caller's to forget."""
        entry = self._entries.pop(key)
        self.size -= len(key) + entry.size
        return entry


def _string(entry: Entry) -> bytes:
    if isinstance(entry.value, dict):
        raise RuntimeStateTypeError("the key holds a hash, not a string")
    return entry.value


def _fields(entry: Entry) -> dict[bytes, bytes]:
    if isinstance(entry.value, bytes):
        raise RuntimeStateTypeError("the key holds a string, not a hash")
    return entry.value


def _size_of(fields: dict[bytes, bytes]) -> int:
    return sum(map(len, fields)) + sum(map(len, fields.values()))
