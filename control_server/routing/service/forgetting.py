"""Forgets changes of routes that have had their time, some at a time."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

from control_server.routing.repository import TableRepository
from shared.database import Database
from shared.durable import QueuedJob
from shared.kernel.clock import Clock

#: Rows of one transaction, so that nobody waits long for SQLite's only writer.
_BATCH = 2000


@dataclass(frozen=True, slots=True)
class RouteRetention:
    """How long changes are kept."""

    database: Database
    keep: timedelta
    now: Clock
    batch: int = _BATCH

    async def changes(self, _job: QueuedJob) -> None:
        """The history of prefixes."""
        before = self.now() - self.keep
        removed = self.batch
        while removed >= self.batch:
            async with self.database.transaction() as session:
                removed = await TableRepository(session).forget_changes(before, self.batch)
