"""What a process remembers of sessions without writing it: when they were last used."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from uuid import UUID


@dataclass(slots=True)
class LastUses:
    """When sessions were last used, gathered so that a request that only reads never writes."""

    _uses: dict[UUID, datetime] = field(default_factory=dict)

    def note(self, session_id: UUID, at: datetime) -> None:
        """The session was used now."""
        self._uses[session_id] = at

    def latest(self, session_id: UUID, written: datetime) -> datetime:
        """The last use, be it written yet or not."""
        return max(written, self._uses.get(session_id, written))

    def take(self) -> dict[UUID, datetime]:
        """What is to be written; gathered anew from here."""
        taken, self._uses = self._uses, {}
        return taken
