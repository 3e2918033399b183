"""Serials and what changed between them: the memory from which routers are brought up to date."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field

from registry_server.roas.schemas import Roa

_SERIALS = 1 << 32


@dataclass(frozen=True, slots=True)
class Change:
    """What one new serial brought."""

    serial: int
    announced: frozenset[Roa]
    withdrawn: frozenset[Roa]


@dataclass(slots=True)
class History:
    """The ROAs at the current serial, and the last changes that led there.

    The serial rises with a change of the ROAs and with nothing else.
    """

    serial: int
    roas: frozenset[Roa]
    most: int
    _changes: deque[Change] = field(default_factory=deque)

    def advance(self, roas: Iterable[Roa]) -> bool:
        """Take over a new set; False where it is the same."""
        after = frozenset(roas)
        if after == self.roas:
            return False
        self.serial = (self.serial + 1) % _SERIALS
        self._changes.append(Change(self.serial, after - self.roas, self.roas - after))
        self.roas = after
        while len(self._changes) > self.most or (self._changes and self._size() > 2 * len(after) + 1000):
            # A difference that is larger than the whole helps nobody.
            self._changes.popleft()
        return True

    def since(self, serial: int) -> Change | None:
        """The net difference from a serial to the current one, or None where that is not known any more."""
        if serial == self.serial:
            return Change(serial, frozenset(), frozenset())
        oldest = (self.serial - len(self._changes)) % _SERIALS
        behind = (self.serial - serial) % _SERIALS
        if behind > (self.serial - oldest) % _SERIALS:
            return None
        announced: set[Roa] = set()
        withdrawn: set[Roa] = set()
        for change in list(self._changes)[-behind:]:
            withdrawn |= change.withdrawn - announced
            announced -= change.withdrawn
            announced |= change.announced - withdrawn
            withdrawn -= change.announced
        return Change(self.serial, frozenset(announced), frozenset(withdrawn))

    def _size(self) -> int:
        return sum(len(change.announced) + len(change.withdrawn) for change in self._changes)
