"""What was read a moment ago, so that something which hardly ever changes costs no question each time."""

from __future__ import annotations

from asyncio import Lock
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from enum import Enum
from time import monotonic
from typing import Generic, TypeVar

K = TypeVar("K")
V = TypeVar("V")
D = TypeVar("D")


class Unread(Enum):
    """What is found of something that nobody has read lately, where None is an answer."""

    UNREAD = "unread"


@dataclass(slots=True)
class Recent(Generic[K, V]):
    """Values by key, each for a second: so late is a change by another process seen at most.

    What this process changes itself is forgotten at once. Where more is asked for than fits, everything is
    read anew: whoever asks for what does not exist fills nothing.
    """

    life: float = 1.0
    most: int = 10_000
    seconds: Callable[[], float] = monotonic
    _kept: dict[K, tuple[float, V]] = field(default_factory=dict, repr=False)
    _turns: dict[K, Lock] = field(default_factory=dict, repr=False)
    _changes: int = 0

    @property
    def changes(self) -> int:
        """How often everything was forgotten; whoever reads a value asks before."""
        return self._changes

    def find(self, key: K, otherwise: D) -> V | D:
        """The value, where it was read within its life."""
        found = self._kept.get(key)
        return found[1] if found is not None and self.seconds() - found[0] < self.life else otherwise

    def keep(self, key: K, value: V, changes: int) -> None:
        """Remember what was read, unless something has changed since `changes` was asked for."""
        if changes == self._changes:
            if len(self._kept) >= self.most:
                self._kept.clear()
            self._kept[key] = (self.seconds(), value)

    @asynccontextmanager
    async def turn(self, key: K) -> AsyncIterator[None]:
        """One at a time for each key: whoever waited looks again, and finds what the one before has read.

        Without it everybody who asks in the moment when a value has had its life reads it at once.
        """
        lock = self._turns.setdefault(key, Lock())
        try:
            async with lock:
                yield
        finally:
            self._turns.pop(key, None)

    async def forget(self) -> None:
        """Something was changed; a function to be called after its commit."""
        self._changes += 1
        self._kept.clear()
