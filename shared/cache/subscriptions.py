"""What a subscriber hears, and the bounded queue between it and the one connection of the process."""

from __future__ import annotations

import asyncio
from collections import deque
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Self

from shared.cache.keys import Key


class ResyncReason(StrEnum):
    """Why messages may be missing."""

    RECONNECTED = "reconnected"
    OVERFLOWED = "overflowed"


@dataclass(frozen=True, slots=True)
class Message:
    """One published value; `sequence` when it came from a numbered log."""

    value: Any
    sequence: int | None = None


@dataclass(frozen=True, slots=True)
class Interrupted:
    """The connection is down: nothing is heard until the next Resync."""


@dataclass(frozen=True, slots=True)
class Resync:
    """Messages may have been missed: read the snapshot again, then go on."""

    epoch: int
    reason: ResyncReason


Event = Message | Interrupted | Resync


class Subscription:
    """An endless iterator of events. Waiting for one can be cancelled and taken up again; nothing is lost."""

    def __init__(self, key: Key, limit: int) -> None:
        self.key = key
        #: Rises with every connection; a subscriber that remembers it knows whether its snapshot still holds.
        self.epoch = 0
        self._limit = limit
        self._events: deque[Event] = deque()
        self._arrived = asyncio.Event()
        self._ended = False

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Event:
        while not self._events:
            if self._ended:
                raise StopAsyncIteration
            self._arrived.clear()
            await self._arrived.wait()
        return self._events.popleft()

    def offer(self, event: Event) -> bool:
        """Queue an event. False: the queue was full, was dropped, and holds the word to read again."""
        fits = len(self._events) < self._limit
        if fits:
            self._events.append(event)
        else:
            self._events.clear()
            self._events.append(Resync(self.epoch, ResyncReason.OVERFLOWED))
        self._arrived.set()
        return fits

    def resynchronise(self, epoch: int) -> None:
        """Forget what is queued, it belongs to another connection, and ask for a fresh look."""
        self.epoch = epoch
        self._events.clear()
        self._events.append(Resync(epoch, ResyncReason.RECONNECTED))
        self._arrived.set()

    def end(self) -> None:
        """Let the iterator finish."""
        self._ended = True
        self._arrived.set()
