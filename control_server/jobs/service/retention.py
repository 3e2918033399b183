"""Forgets what has had its time. The audit trail is kept for ever: the database refuses to shorten it."""

from __future__ import annotations

from dataclasses import dataclass

from control_server.jobs.repository import RetentionRepository
from control_server.settings import JobSettings
from shared.database import Database
from shared.durable import QueuedJob, SqlStorage
from shared.kernel.clock import Clock

#: Probes of one transaction, so that nobody waits long for SQLite's only writer.
_BATCH = 20


@dataclass(frozen=True, slots=True)
class Retention:
    """What is kept for how long."""

    database: Database
    storage: SqlStorage | None
    settings: JobSettings
    now: Clock

    async def probes(self, _job: QueuedJob) -> None:
        """Finished probes and their lines."""
        before = self.now() - self.settings.keep_probes
        removed = _BATCH
        while removed == _BATCH:
            async with self.database.transaction() as session:
                removed = await RetentionRepository(session).remove_probes(before, _BATCH)

    async def tokens(self, _job: QueuedJob) -> None:
        """Tokens that can never be used again."""
        async with self.database.transaction() as session:
            await RetentionRepository(session).remove_spent_tokens(self.now() - self.settings.keep_spent)

    async def durable(self, _job: QueuedJob) -> None:
        """Rows of the durable tables whose retention has ended; a server does this by itself."""
        if self.storage is not None:
            await self.storage.purge_expired()
