"""Lists: plain ones that keep the newest, windows, and numbered logs that are published as they grow."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import IntEnum, StrEnum
from typing import Any

from shared.cache import codec
from shared.cache.codec import State
from shared.cache.entries import milliseconds_of
from shared.cache.errors import Reason, TierUnavailable
from shared.cache.gateway import Gateway, Operation
from shared.cache.keys import Key, Kind
from shared.cache.scripting import script


class WhenFull(StrEnum):
    """What a full log does with one more item."""

    #: Say once that it is cut off here, and take nothing more.
    REFUSE = "refuse"
    #: Drop the oldest; the numbers go on, so a reader sees the gap.
    TRIM = "trim"


class Outcome(IntEnum):
    """What became of an item."""

    GONE = -1
    REFUSED = 0
    STORED = 1
    TRUNCATED = 2


@dataclass(frozen=True, slots=True)
class Appended:
    """The outcome of one item and the number it (or the mark in its place) got."""

    outcome: Outcome
    sequence: int


@dataclass(frozen=True, slots=True)
class LogItem:
    """One item of a numbered log. Numbers rise by one; a jump is a gap."""

    sequence: int
    value: Any


@dataclass(frozen=True, slots=True)
class LogTarget:
    """Where items go: the list, the key without which nothing is stored, the channel that hears them."""

    log: Key
    guard: Key
    channel: Key | None = None


@dataclass(frozen=True, slots=True)
class LogPolicy:
    """How a log is bounded. `limit` (by default the family's cap) counts the mark as well."""

    when_full: WhenFull = WhenFull.REFUSE
    limit: int | None = None
    #: Stored once in place of the first item that does not fit.
    truncation_mark: Any = None


class Lists:
    """The keys of one tier that hold lists."""

    def __init__(self, gateway: Gateway, name_of: Callable[[Key], bytes]) -> None:
        self._gateway = gateway
        self._name_of = name_of

    async def append(self, key: Key, values: Sequence[Any], ttl_seconds: float) -> int:
        """Add at the end, keep the newest; the length."""
        return await self._push("append", key, values, ttl_seconds)

    async def push_window(self, key: Key, value: Any, ttl_seconds: float) -> int:
        """Put in front, drop what falls out; the length."""
        return await self._push("push_window", key, [value], ttl_seconds)

    async def append_and_publish(
        self, target: LogTarget, values: Sequence[Any], policy: LogPolicy, ttl_seconds: float
    ) -> list[Appended]:
        """Number, store and publish in one step."""
        family = target.log.family
        _expect(target.log, Kind.LOG)
        operation = Operation("append_and_publish", family.name, writes=True)
        cap = _cap_of(target.log)
        mark = policy.truncation_mark
        reply = await self._gateway.run(
            operation,
            script("append_and_publish"),
            [self._name_of(target.log), self._name_of(target.guard)],
            b"" if target.channel is None else self._name_of(target.channel),
            milliseconds_of(family, ttl_seconds),
            cap,
            min(cap, policy.limit or cap),
            policy.when_full,
            b"" if mark is None else codec.encode_item(family, mark),
            *(codec.encode_item(family, value) for value in values),
        )
        appended = [Appended(Outcome(outcome), number) for outcome, number in reply]
        for item in appended:
            self._count(operation, item.outcome.name.lower())
        return appended

    async def read(self, key: Key, start: int, stop: int) -> list[Any]:
        """The items between two positions, both included; what cannot be understood is left out."""
        return [decoded.value for decoded in await self._range(key, start, stop)]

    async def read_log(self, key: Key, start: int) -> list[LogItem]:
        """The items from a position on, with their numbers."""
        _expect(key, Kind.LOG)
        found = await self._range(key, start, -1)
        return [LogItem(item.sequence, item.value) for item in found if item.sequence is not None]

    async def _push(self, name: str, key: Key, values: Sequence[Any], ttl_seconds: float) -> int:
        _expect(key, Kind.LIST)
        operation = Operation(name, key.family.name, writes=True)
        payloads = [codec.encode(key.family, value) for value in values]
        milliseconds = milliseconds_of(key.family, ttl_seconds)
        length: int = await self._gateway.run(
            operation, script(name), [self._name_of(key)], milliseconds, _cap_of(key), *payloads
        )
        self._count(operation, "stored")
        return length

    async def _range(self, key: Key, start: int, stop: int) -> list[codec.Decoded]:
        operation = Operation("read_list", key.family.name)
        try:
            (raw,) = await self._gateway.perform(operation, ("LRANGE", self._name_of(key), start, stop))
        except TierUnavailable as error:
            if error.reason is not Reason.WRONG_TYPE:
                raise
            raw = []
        decoded = [codec.decode(key.family, item) for item in raw]
        for item in decoded:
            if item.state is State.UNDECODABLE:
                self._count(operation, item.state)
        self._count(operation, State.HIT if raw else State.MISS)
        return [item for item in decoded if item.state is State.HIT]

    def _count(self, operation: Operation, result: str) -> None:
        self._gateway.observer.counted(self._gateway.tier, operation.family, operation.name, result)


def _cap_of(key: Key) -> int:
    if key.family.cap is None:
        raise ValueError(f"{key.family.name} declares no cap, and a list without one grows for ever")
    return key.family.cap


def _expect(key: Key, kind: Kind) -> None:
    if key.family.kind is not kind:
        raise ValueError(f"{key.family.name} is a {key.family.kind} family, not a {kind}")
