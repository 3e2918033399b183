"""Forgets what has had its time."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

from control_server.health.repository import HealthRepository
from control_server.incidents.service import IncidentLedger
from shared.database import Database
from shared.durable import QueuedJob
from shared.kernel.clock import Clock


@dataclass(frozen=True, slots=True)
class HealthRetention:
    """What is kept for how long."""

    database: Database
    keep: timedelta
    now: Clock

    async def changes(self, _job: QueuedJob) -> None:
        """Changes of health, and incidents that were closed."""
        before = self.now() - self.keep
        async with self.database.transaction() as session:
            await HealthRepository(session).remove_before(before)
            await IncidentLedger.within(session).forget(before)
