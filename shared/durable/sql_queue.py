"""The leased queue in SQL: one row a job, taken with SKIP LOCKED; every deadline is the database's."""

from __future__ import annotations

import zlib
from datetime import timedelta
from typing import TYPE_CHECKING
from uuid import uuid4

from sqlalchemy import delete, func, or_, select, update

from shared.durable.codecs import PayloadCodec
from shared.durable.config import QueuePolicy, SqlConfig
from shared.durable.errors import LeaseLostError
from shared.durable.keys import check_identifier
from shared.durable.leasing import Idle, KeptLease, LeaseAttempts, wait_for_lease
from shared.durable.records import CancelOutcome, QueueLease, Reclaimed, ReleaseOutcome, Renewal
from shared.durable.redis_queue import ERROR_LIMIT
from shared.durable.sql_enqueue import Enqueuing
from shared.durable.sql_inspection import QueueInspection
from shared.durable.sql_leases import DEAD, LEASED, WAITING, held
from shared.durable.sql_tables import database_milliseconds, database_now
from shared.durable.wire import decode_job, from_milliseconds, milliseconds

if TYPE_CHECKING:
    from typing import Any

    from sqlalchemy.ext.asyncio import AsyncSession

    from shared.durable.sql_tables import SqlStorage


#: A finished job rings no bell, so a queue at its limit of leased jobs is asked again soon.
_BUSY = timedelta(seconds=1)


class SqlQueueBackend(Enqueuing, QueueInspection):
    """Leased jobs, delivered at least once."""

    def __init__(
        self,
        storage: SqlStorage,
        config: SqlConfig | None = None,
        codec: PayloadCodec | None = None,
        *,
        policy: QueuePolicy | None = None,
    ) -> None:
        """Use the service's database, which stays the service's to close."""
        self._storage = storage
        self._jobs = storage.tables.jobs
        self._config = config or SqlConfig()
        self._codec = codec or PayloadCodec()
        self._policy = policy or QueuePolicy()

    @property
    def lease_seconds(self) -> float:
        """How long a lease lasts."""
        return self._config.lease_seconds

    async def lease(self, worker_id: str, *, wait: timedelta | None = None) -> QueueLease | None:
        """Take the next job, waiting for one at most so long."""
        check_identifier(worker_id)
        attempts = LeaseAttempts(
            once=lambda: self._lease_now(worker_id),
            give_back=lambda lease: self.release(lease, counts=False),
        )
        return await wait_for_lease(attempts, wait, self._policy.doorbell)

    async def renew(self, lease: QueueLease) -> Renewal:
        """Prolong the lease by its full length from now."""
        expires = database_milliseconds() + self._config.lease_milliseconds
        statement = update(self._jobs).where(held(self._jobs, self._config.prefix, lease))
        renewed = statement.values(lease_expires_at=expires).returning(
            self._jobs.c.lease_expires_at, self._jobs.c.cancel_requested
        )
        async with self._storage.database.transaction() as session:
            row = (await session.execute(renewed)).first()
        if row is None:
            raise LeaseLostError
        return Renewal(from_milliseconds(row[0]), cancel_requested=row[1])

    def keep_alive(self, lease: QueueLease) -> KeptLease:
        """Renew while the block runs; LeaseLostError leaves it when the lease is lost."""
        return KeptLease(self, lease)

    async def acknowledge(self, lease: QueueLease) -> None:
        """The job is done and gone."""
        statement = delete(self._jobs).where(held(self._jobs, self._config.prefix, lease))
        async with self._storage.database.transaction() as session:
            row = (await session.execute(statement.returning(self._jobs.c.job_id))).first()
        if row is None:
            raise LeaseLostError

    async def release(
        self,
        lease: QueueLease,
        *,
        delay: timedelta | None = None,
        counts: bool = True,
        error: str | None = None,
    ) -> ReleaseOutcome:
        """Give the job back, after the back-off of the policy unless a delay is given."""
        pause = milliseconds(delay)
        if delay is None and counts and self._policy.backoff is not None:
            pause = milliseconds(self._policy.backoff.pause(lease.attempt))
        jobs = self._jobs
        query = select(jobs).where(held(jobs, self._config.prefix, lease)).with_for_update()
        async with self._storage.database.transaction() as session:
            row = (await session.execute(query)).mappings().first()
            if row is None:
                raise LeaseLostError
            job: dict[str, Any] = dict(row)
            if not counts:
                job["attempts"] = max(0, job["attempts"] - 1)
            if error:
                job["error"] = error[:ERROR_LIMIT]
            now = await database_now(session)
            return await self._put_back(session, job, now, due=now + pause, may_die=counts)

    async def cancel(self, job_id: str) -> CancelOutcome:
        """Stop a waiting job, mark a leased one."""
        jobs = self._jobs
        query = select(jobs.c.position, jobs.c.place).where(self._job(job_id)).with_for_update()
        async with self._storage.database.transaction() as session:
            row = (await session.execute(query)).first()
            if row is None or row.place == DEAD:
                return CancelOutcome.UNKNOWN
            if row.place == LEASED:
                await session.execute(update(jobs).where(self._job(job_id)).values(cancel_requested=True))
                return CancelOutcome.MARKED
            await session.execute(delete(jobs).where(self._job(job_id)))
            return CancelOutcome.STOPPED

    async def reclaim(self, limit: int = 100) -> Reclaimed:
        """Put jobs of expired leases back."""
        async with self._storage.database.transaction() as session:
            return await self._reclaim(session, await database_now(session), limit)

    async def _reclaim(self, session: AsyncSession, now: int, limit: int) -> Reclaimed:
        jobs = self._jobs
        query = select(jobs).where(
            jobs.c.prefix == self._config.prefix, jobs.c.place == LEASED, jobs.c.lease_expires_at <= now
        )
        query = query.order_by(jobs.c.lease_expires_at).limit(limit).with_for_update(skip_locked=True)
        moved = dict.fromkeys(ReleaseOutcome, 0)
        for row in (await session.execute(query)).mappings().all():
            moved[await self._put_back(session, dict(row), now, due=now)] += 1
        return Reclaimed(**{outcome.value: count for outcome, count in moved.items()})

    async def _put_back(
        self, session: AsyncSession, job: dict[str, Any], now: int, *, due: int, may_die: bool = True
    ) -> ReleaseOutcome:
        jobs, most = self._jobs, self._policy.max_attempts
        row = jobs.c.position == job["position"]
        if job["cancel_requested"]:
            await session.execute(delete(jobs).where(row))
            return ReleaseOutcome.CANCELLED
        dies = may_die and 0 < most <= job["attempts"]
        values = {"attempts": job["attempts"], "error": job["error"], "lease_id": None, "worker_id": None}
        values |= {"lease_expires_at": None, "due_at": due, "place": DEAD if dies else WAITING}
        await session.execute(update(jobs).where(row).values(died_at=now if dies else None, **values))
        return ReleaseOutcome.DEAD if dies else ReleaseOutcome.WAITING

    async def _lease_now(self, worker_id: str) -> QueueLease | Idle:
        jobs = self._jobs
        async with self._storage.database.transaction() as session:
            now = await database_now(session)
            await self._reclaim(session, now, self._policy.sweep_limit)
            if not await self._may_lease(session):
                return await self._idle(session, now, at_most=_BUSY)
            query = select(jobs).where(
                jobs.c.prefix == self._config.prefix, jobs.c.place == WAITING, jobs.c.due_at <= now
            )
            query = query.order_by(jobs.c.due_at, jobs.c.position).limit(1).with_for_update(skip_locked=True)
            row = (await session.execute(query)).mappings().first()
            if row is None:
                return await self._idle(session, now)
            expires = now + self._config.lease_milliseconds
            lease_id = uuid4().hex
            values = {"lease_id": lease_id, "worker_id": worker_id, "lease_expires_at": expires}
            counters = {"attempts": row["attempts"] + 1, "deliveries": row["deliveries"] + 1}
            statement = update(jobs).where(jobs.c.position == row["position"])
            await session.execute(statement.values(place=LEASED, **values, **counters))
        return QueueLease(
            lease_id=lease_id,
            job=decode_job(self._codec, bytes(row["body"])),
            worker_id=worker_id,
            expires_at=from_milliseconds(expires),
            attempt=counters["attempts"],
            fence=counters["deliveries"],
        )

    async def _may_lease(self, session: AsyncSession) -> bool:
        """Whether the limit of leased jobs has room; counting and leasing are one step under a lock."""
        if not self._policy.max_leased:
            return True
        if self._storage.database.dialect == "postgresql":
            lock = zlib.crc32(f"durable-queue:{self._config.prefix}".encode())
            await session.execute(select(func.pg_advisory_xact_lock(lock)))
        jobs = self._jobs
        query = select(func.count()).where(jobs.c.prefix == self._config.prefix, jobs.c.place == LEASED)
        return (await session.scalar(query) or 0) < self._policy.max_leased

    async def _idle(self, session: AsyncSession, now: int, *, at_most: timedelta | None = None) -> Idle:
        jobs = self._jobs
        change = func.coalesce(jobs.c.lease_expires_at, jobs.c.due_at)
        query = select(func.min(change)).where(jobs.c.prefix == self._config.prefix, jobs.c.place != DEAD)
        at = await session.scalar(query.where(or_(jobs.c.place == LEASED, jobs.c.due_at > now)))
        if at is None:
            return Idle(at_most)
        left = timedelta(milliseconds=max(0, at - now))
        return Idle(left if at_most is None else min(left, at_most))
