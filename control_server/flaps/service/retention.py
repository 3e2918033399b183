"""Forgets what has had its time."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

from control_server.flaps.repository import FlapHistory
from shared.database import Database
from shared.durable import QueuedJob
from shared.kernel.clock import Clock

#: Rows of one transaction, so that nobody waits long for SQLite's only writer.
_BATCH = 500


@dataclass(frozen=True, slots=True)
class FlapRetention:
    """What is kept for how long."""

    database: Database
    keep: timedelta
    now: Clock

    async def history(self, _job: QueuedJob) -> None:
        """What happened, and rates."""
        before = self.now() - self.keep
        removed = _BATCH
        while removed == _BATCH:
            async with self.database.transaction() as session:
                removed = await FlapHistory(session).remove_transitions(before, _BATCH)
        async with self.database.transaction() as session:
            await FlapHistory(session).remove_rates(before)
