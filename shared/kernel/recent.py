"""What was read a moment ago, so that something which hardly ever changes costs no question each time."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from time import monotonic
from typing import Generic, TypeVar

K = TypeVar("K")
V = TypeVar("V")


@dataclass(slots=True)
class Recent(Generic[K, V]):
    """Values by key, each for a second: so late is a change by another process seen at most.

    What this process changes itself is forgotten at once. Only what exists is kept, so nobody can fill it by
    asking for what does not.
    """

    life: float = 1.0
    seconds: Callable[[], float] = monotonic
    _kept: dict[K, tuple[float, V]] = field(default_factory=dict, repr=False)
    _changes: int = 0

    @property
    def changes(self) -> int:
        """How often everything was forgotten; whoever reads a value asks before."""
        return self._changes

    def find(self, key: K) -> V | None:
        """The value, where it was read within its life."""
        found = self._kept.get(key)
        return found[1] if found is not None and self.seconds() - found[0] < self.life else None

    def keep(self, key: K, value: V, changes: int) -> None:
        """Remember what was read, unless something has changed since `changes` was asked for."""
        if changes == self._changes:
            self._kept[key] = (self.seconds(), value)

    async def forget(self) -> None:
        """Something was changed; a function to be called after its commit."""
        self._changes += 1
        self._kept.clear()
