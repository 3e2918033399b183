"""What can be seen of a queue in SQL, and what is done with its dead."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from sqlalchemy import case, delete, func, select, update

from shared.durable.keys import check_identifier
from shared.durable.records import DeadJob, JobState, LeasedJob, QueueCounts
from shared.durable.sql_leases import DEAD, LEASED, WAITING
from shared.durable.sql_tables import database_milliseconds, database_now
from shared.durable.wire import decode_job_if_readable, from_milliseconds, milliseconds

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlalchemy import ColumnElement, Table

    from shared.durable.codecs import PayloadCodec
    from shared.durable.config import QueuePolicy, SqlConfig
    from shared.durable.sql_tables import SqlStorage


class QueueInspection:
    """The operator's half of the queue in SQL."""

    _storage: SqlStorage
    _jobs: Table
    _config: SqlConfig
    _codec: PayloadCodec
    _policy: QueuePolicy

    def _place(self) -> ColumnElement[str]:
        jobs = self._jobs
        delayed = (jobs.c.place == WAITING) & (jobs.c.due_at > database_milliseconds())
        return case(
            (delayed, JobState.DELAYED.value),
            (jobs.c.place == WAITING, JobState.PENDING.value),
            (jobs.c.place == LEASED, JobState.LEASED.value),
            else_=JobState.DEAD.value,
        )

    async def state(self, job_id: str) -> JobState | None:
        """Return where the job is."""
        jobs = self._jobs
        query = select(self._place()).where(
            jobs.c.prefix == self._config.prefix, jobs.c.job_id == check_identifier(job_id)
        )
        async with self._storage.database.reading() as session:
            place = await session.scalar(query)
        return None if place is None else JobState(place)

    async def counts(self) -> QueueCounts:
        """How many jobs are where."""
        jobs, place = self._jobs, self._place().label("state")
        query = select(place, func.count(), func.min(jobs.c.enqueued_at)).where(
            jobs.c.prefix == self._config.prefix
        )
        async with self._storage.database.reading() as session:
            rows = {row[0]: row for row in (await session.execute(query.group_by(place))).all()}
            now = await database_now(session)
        numbers = {state.value: rows[state.value][1] if state.value in rows else 0 for state in JobState}
        first = rows[JobState.PENDING.value][2] if JobState.PENDING.value in rows else now
        return QueueCounts(**numbers, oldest_wait=timedelta(milliseconds=max(0, now - first)))

    async def leased(self, limit: int = 100) -> Sequence[LeasedJob]:
        """Return who holds what, the first lease to run out first."""
        jobs = self._jobs
        query = select(jobs).where(jobs.c.prefix == self._config.prefix, jobs.c.place == LEASED)
        query = query.order_by(jobs.c.lease_expires_at, jobs.c.job_id).limit(limit)
        async with self._storage.database.reading() as session:
            rows = (await session.execute(query)).mappings().all()
        return [
            LeasedJob(
                job_id=row["job_id"],
                job=decode_job_if_readable(self._codec, bytes(row["body"])),
                worker_id=row["worker_id"],
                attempts=row["attempts"],
                expires_at=from_milliseconds(row["lease_expires_at"]),
            )
            for row in rows
        ]

    async def dead(self, limit: int = 100) -> Sequence[DeadJob]:
        """Return the jobs that used up their attempts, the latest first."""
        jobs = self._jobs
        query = select(jobs).where(jobs.c.prefix == self._config.prefix, jobs.c.place == DEAD)
        query = query.order_by(jobs.c.died_at.desc(), jobs.c.job_id.desc()).limit(limit)
        async with self._storage.database.reading() as session:
            rows = (await session.execute(query)).mappings().all()
        return [
            DeadJob(
                job_id=row["job_id"],
                job=decode_job_if_readable(self._codec, bytes(row["body"])),
                attempts=row["attempts"],
                died_at=from_milliseconds(row["died_at"]),
                error=row["error"],
            )
            for row in rows
        ]

    async def requeue_dead(self, *job_ids: str) -> int:
        """Give dead jobs all their attempts again."""
        jobs = self._jobs
        where = (jobs.c.prefix == self._config.prefix, jobs.c.place == DEAD, jobs.c.job_id.in_(job_ids))
        values = {"place": WAITING, "attempts": 0, "error": None, "died_at": None}
        statement = update(jobs).where(*where).values(due_at=database_milliseconds(), **values)
        async with self._storage.database.transaction() as session:
            moved = len((await session.execute(statement.returning(jobs.c.job_id))).all())
        if self._policy.doorbell is not None:
            self._policy.doorbell.ring()
        return moved

    async def purge_dead(self, older_than: timedelta, limit: int = 1000) -> int:
        """Forget jobs that have been dead for so long."""
        jobs = self._jobs
        before = database_milliseconds() - milliseconds(older_than)
        old = select(jobs.c.position).where(
            jobs.c.prefix == self._config.prefix, jobs.c.place == DEAD, jobs.c.died_at <= before
        )
        statement = delete(jobs).where(jobs.c.position.in_(old.order_by(jobs.c.died_at).limit(limit)))
        async with self._storage.database.transaction() as session:
            return len((await session.execute(statement.returning(jobs.c.job_id))).all())
