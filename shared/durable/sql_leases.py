"""Who holds a job in SQL: the check that fences everything else."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import and_, select

from shared.durable.errors import LeaseLostError
from shared.durable.sql_tables import database_milliseconds

if TYPE_CHECKING:
    from sqlalchemy import ColumnElement, Table
    from sqlalchemy.ext.asyncio import AsyncSession

    from shared.durable.records import QueueLease
    from shared.durable.sql_tables import SqlStorage

WAITING, LEASED, DEAD = "waiting", "leased", "dead"


def held(table: Table, prefix: str, lease: QueueLease) -> ColumnElement[bool]:
    """Whether the job's row still is this lease's; an expired lease is lost before anybody takes over."""
    return and_(
        table.c.prefix == prefix,
        table.c.job_id == lease.job.job_id,
        table.c.place == LEASED,
        table.c.lease_id == lease.lease_id,
        table.c.lease_expires_at > database_milliseconds(),
    )


async def check_lease(session: AsyncSession, storage: SqlStorage, prefix: str, lease: QueueLease) -> None:
    """Hold the job's row until the transaction ends, so nobody takes it over meanwhile."""
    jobs = storage.tables.jobs
    query = select(jobs.c.job_id).where(held(jobs, prefix, lease)).with_for_update(read=True)
    if (await session.execute(query)).first() is None:
        raise LeaseLostError
