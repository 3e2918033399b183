"""What only a database can do: enqueue with the facts, and sweep what has aged."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

import pytest
from sqlalchemy import func, select

from shared.durable import ContextRetentionPolicy, Dedupe, QueuedJob, Retention, RunState
from shared.testing.waiting import wait_until
from tests.contracts.durable.backends import METADATA, SqlBackend, context, event, open_backend, run_record
from tests.contracts.durable.servers import locate

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

SOON = Retention(keep=timedelta(milliseconds=50))


@pytest.fixture(params=["postgres", "sqlite"])
def location(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[str, str]:
    return locate(request.param, request, tmp_path)


@pytest.fixture
async def sql(location: tuple[str, str]) -> AsyncIterator[SqlBackend]:
    async with open_backend(*location) as opened:
        assert isinstance(opened, SqlBackend)
        yield opened


async def rows_of(sql: SqlBackend) -> int:
    total = 0
    async with sql.database.reading() as session:
        for table in METADATA.sorted_tables:
            query = select(func.count()).select_from(table).where(table.c.prefix == sql.prefix)
            total += await session.scalar(query) or 0
    return total


class TestEnqueueWithin:
    async def test_the_job_is_there_with_the_facts(self, sql: SqlBackend) -> None:
        async with sql.database.transaction() as session:
            assert (await sql.queue().enqueue_within(session, QueuedJob("job-1", "notify"))).created
        assert await sql.queue().lease("worker-1") is not None

    async def test_and_is_not_when_they_are_rolled_back(self, sql: SqlBackend) -> None:
        key = Dedupe("facts", timedelta(hours=1))
        with pytest.raises(ZeroDivisionError):
            async with sql.database.transaction() as session:
                await sql.queue().enqueue_within(session, QueuedJob("job-1", "notify"), dedupe=key)
                raise ZeroDivisionError
        assert await sql.places() == {}
        assert (await sql.queue().enqueue(QueuedJob("job-2", "notify"), dedupe=key)).created


class TestPurgeExpired:
    async def test_leaves_no_row_of_what_has_aged_and_every_row_of_what_has_not(
        self, sql: SqlBackend
    ) -> None:
        await sql.checkpoints(SOON).save(context(), 0)
        await sql.runs(SOON).create(run_record(state=RunState.FAILED))
        await sql.events(retention=SOON).publish(event(1))
        await sql.contexts(ContextRetentionPolicy(1, 1, 1)).append("run-1", {}, 0)
        await sql.checkpoints().save(context("run-2"), 0)
        await sql.events().publish(event(1, "run-2"))

        async def swept() -> bool:
            await sql.storage.purge_expired()
            return await rows_of(sql) == 3  # the checkpoint, the event and its head

        await wait_until(swept)
        assert await sql.checkpoints().load("run-2") is not None
        assert len(await sql.events().read("run-2")) == 1
