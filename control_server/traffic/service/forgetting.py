"""Forgets steps of the archives that have had their time, some at a time."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

from control_server.traffic.repository import TrafficRepository
from control_server.traffic.rules import COARSE, FINE
from shared.database import Database
from shared.durable import QueuedJob
from shared.kernel.clock import Clock

#: Rows of one transaction, so that nobody waits long for SQLite's only writer.
_BATCH = 2000


@dataclass(frozen=True, slots=True)
class TrafficRetention:
    """How long the archives reach back."""

    database: Database
    keep_fine: timedelta
    keep_coarse: timedelta
    now: Clock
    batch: int = _BATCH

    async def archives(self, _job: QueuedJob) -> None:
        """Both archives."""
        for step, keep in ((FINE, self.keep_fine), (COARSE, self.keep_coarse)):
            before = self.now() - keep
            removed = self.batch
            while removed >= self.batch:
                async with self.database.transaction() as session:
                    removed = await TrafficRepository(session).forget(step, before, self.batch)
