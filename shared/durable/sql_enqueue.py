"""Adding jobs in SQL, also inside a transaction that writes the facts they are about."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from sqlalchemy import delete, func, select

from shared.durable.errors import CapacityExceededError
from shared.durable.keys import check_identifier
from shared.durable.records import Dedupe, Enqueued, QueuedJob
from shared.durable.sql_leases import WAITING
from shared.durable.sql_tables import database_now, expired
from shared.durable.wire import encode_job, milliseconds

if TYPE_CHECKING:
    from sqlalchemy import ColumnElement, Table
    from sqlalchemy.ext.asyncio import AsyncSession

    from shared.durable.codecs import PayloadCodec
    from shared.durable.config import QueuePolicy, SqlConfig
    from shared.durable.sql_tables import SqlStorage


class Enqueuing:
    """The producing half of the queue in SQL."""

    _storage: SqlStorage
    _jobs: Table
    _config: SqlConfig
    _codec: PayloadCodec
    _policy: QueuePolicy

    async def enqueue(
        self, job: QueuedJob, *, delay: timedelta | None = None, dedupe: Dedupe | None = None
    ) -> Enqueued:
        """Add the job unless it is there; see QueueBackend."""
        async with self._storage.database.transaction() as session:
            enqueued = await self.enqueue_within(session, job, delay=delay, dedupe=dedupe)
        if self._policy.doorbell is not None:
            self._policy.doorbell.ring()
        return enqueued

    async def enqueue_within(
        self,
        session: AsyncSession,
        job: QueuedJob,
        *,
        delay: timedelta | None = None,
        dedupe: Dedupe | None = None,
    ) -> Enqueued:
        """Add the job in the caller's transaction: it is there if, and only if, the facts are."""
        body = encode_job(self._codec, job)
        now = await database_now(session)
        if dedupe is not None:
            before = await self._deduplicated(session, check_identifier(dedupe.key))
            if before is not None:
                return Enqueued(before, created=False)
        values = {"body": body, "place": WAITING, "enqueued_at": now, "due_at": now + milliseconds(delay)}
        values |= {"attempts": 0, "deliveries": 0, "cancel_requested": False}
        row = self._storage.insert(self._jobs).values(
            prefix=self._config.prefix, job_id=check_identifier(job.job_id), **values
        )
        added = await session.execute(row.on_conflict_do_nothing().returning(self._jobs.c.position))
        if added.first() is None:
            return Enqueued(job.job_id, created=False)
        if dedupe is not None:
            first = await self._remember(session, dedupe, job.job_id, now)
            if first != job.job_id:
                await session.execute(delete(self._jobs).where(self._job(job.job_id)))
                return Enqueued(first, created=False)
        await self._check_capacity(session)
        return Enqueued(job.job_id, created=True)

    def _job(self, job_id: str) -> ColumnElement[bool]:
        return (self._jobs.c.prefix == self._config.prefix) & (self._jobs.c.job_id == job_id)

    async def _deduplicated(self, session: AsyncSession, key: str) -> str | None:
        table = self._storage.tables.dedupe
        mine = (table.c.prefix == self._config.prefix) & (table.c.key == key)
        await session.execute(delete(table).where(mine, expired(table)))
        return await session.scalar(select(table.c.job_id).where(mine))

    async def _remember(self, session: AsyncSession, dedupe: Dedupe, job_id: str, now: int) -> str:
        """Store the key, or answer whose job a concurrent caller stored for it."""
        table = self._storage.tables.dedupe
        row = self._storage.insert(table).values(
            prefix=self._config.prefix,
            key=dedupe.key,
            job_id=job_id,
            expires_at=now + milliseconds(dedupe.window),
        )
        await session.execute(row.on_conflict_do_nothing())
        mine = (table.c.prefix == self._config.prefix) & (table.c.key == dedupe.key)
        return str((await session.scalars(select(table.c.job_id).where(mine))).one())

    async def _check_capacity(self, session: AsyncSession) -> None:
        """Refuse, and so roll back, what is over the limit; concurrent callers may overshoot by one each."""
        most = self._policy.max_jobs
        if not most:
            return
        query = select(func.count()).where(self._jobs.c.prefix == self._config.prefix)
        if (await session.scalar(query) or 0) > most:
            raise CapacityExceededError(f"The queue holds {most} jobs, its limit.")
