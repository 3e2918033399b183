"""What a transaction promises, on both databases."""

import asyncio
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import ClassVar

import pytest
from sqlalchemy import text
from sqlalchemy.exc import DBAPIError, IntegrityError
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column

from shared.database import (
    ANNOTATIONS,
    Database,
    DatabaseFull,
    DatabaseSettings,
    DatabaseUnavailable,
    after_commit,
    new_metadata,
    open_database,
)
from shared.kernel.errors import AppError


class Base(DeclarativeBase):
    metadata = new_metadata()
    type_annotation_map = ANNOTATIONS


class Counter(Base):
    __tablename__ = "counters"

    id: Mapped[int] = mapped_column(primary_key=True)
    value: Mapped[int]
    at: Mapped[datetime]


class Child(Base):
    __tablename__ = "children"

    id: Mapped[int] = mapped_column(primary_key=True)
    parent: Mapped[int]


NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


@pytest.fixture(autouse=True)
async def tables(database: Database) -> None:
    async with database.writer.begin() as connection:
        await connection.run_sync(Base.metadata.create_all)
    async with database.transaction() as session:
        session.add(Counter(id=1, value=0, at=NOON))


async def value_of(database: Database) -> int:
    async with database.reading() as session:
        found = await session.execute(text("SELECT value FROM counters WHERE id = 1"))
        return int(found.scalar_one())


async def test_fifty_writers_that_read_and_then_update_lose_nothing(database: Database) -> None:
    locking = " FOR UPDATE" if database.dialect == "postgresql" else ""

    async def write() -> None:
        for _ in range(20):
            async with database.transaction() as session:
                found = await session.execute(text(f"SELECT value FROM counters WHERE id = 1{locking}"))  # noqa: S608
                await session.execute(
                    text("UPDATE counters SET value = :v WHERE id = 1"), {"v": found.scalar_one() + 1}
                )

    await asyncio.gather(*(write() for _ in range(50)))
    assert await value_of(database) == 1000


async def test_an_error_rolls_back(database: Database) -> None:
    with pytest.raises(ZeroDivisionError):
        async with database.transaction() as session:
            await session.execute(text("UPDATE counters SET value = 7"))
            raise ZeroDivisionError
    assert await value_of(database) == 0


async def test_a_refusal_that_must_be_stored_commits_and_is_still_raised(database: Database) -> None:
    class Stored(AppError):
        """Refused, and written down."""

        rolls_back: ClassVar = False

    with pytest.raises(Stored):
        async with database.transaction() as session:
            await session.execute(text("UPDATE counters SET value = 7"))
            raise Stored
    assert await value_of(database) == 7


async def test_what_waits_for_the_commit_happens_after_it_and_only_then(database: Database) -> None:
    seen: list[int] = []

    async def look() -> None:
        seen.append(await value_of(database))

    async with database.transaction() as session:
        after_commit(session, look)
        await session.execute(text("UPDATE counters SET value = 3"))
        assert seen == []
    assert seen == [3]
    with pytest.raises(ZeroDivisionError):
        async with database.transaction() as session:
            after_commit(session, look)
            raise ZeroDivisionError
    assert seen == [3]


async def test_a_reading_session_cannot_write(database: Database) -> None:
    with pytest.raises((DBAPIError, DatabaseUnavailable)):
        async with database.reading() as session:
            await session.execute(text("UPDATE counters SET value = 9"))
    assert await value_of(database) == 0


async def test_a_reading_session_sees_one_snapshot(database: Database) -> None:
    async with database.reading() as session:
        before = (await session.execute(text("SELECT value FROM counters"))).scalar_one()
        async with database.transaction() as writer:
            await writer.execute(text("UPDATE counters SET value = 5"))
        after = (await session.execute(text("SELECT value FROM counters"))).scalar_one()
    assert (before, after) == (0, 0)
    assert await value_of(database) == 5


async def test_a_commit_that_fails_raises_out_of_the_transaction(database: Database) -> None:
    async with database.writer.begin() as connection:
        await connection.execute(
            text(
                "CREATE TABLE late (id BIGINT PRIMARY KEY, "
                "parent BIGINT REFERENCES counters (id) DEFERRABLE INITIALLY DEFERRED)"
            )
        )
    told: list[str] = []

    async def tell() -> None:
        told.append("committed")

    with pytest.raises(IntegrityError):
        async with database.transaction() as session:
            after_commit(session, tell)
            await session.execute(text("INSERT INTO late VALUES (1, 99)"))
    assert told == []


async def test_instants_come_back_in_utc_and_compare_as_instants(database: Database) -> None:
    tokyo = datetime(2026, 3, 1, 22, 30, tzinfo=timezone(timedelta(hours=9)))
    async with database.transaction() as session:
        session.add(Counter(id=2, value=0, at=tokyo))
    async with database.reading() as session:
        row = await session.get(Counter, 2)
    assert row is not None
    assert row.at == tokyo
    assert row.at.utcoffset() == timedelta(0)


async def test_an_instant_without_a_zone_is_refused(database: Database) -> None:
    with pytest.raises(Exception, match="time zone"):
        async with database.transaction() as session:
            session.add(Counter(id=3, value=0, at=datetime(2026, 3, 1)))  # noqa: DTZ001 - the fault


async def test_a_database_that_is_away_is_a_refusal_not_a_bug(tmp_path: Path) -> None:
    away = {"url": f"sqlite:///{tmp_path / 'missing' / 'facts.db'}"}
    database = open_database(DatabaseSettings.model_validate(away))
    with pytest.raises(DatabaseUnavailable):
        await database.ping()
    await database.close()
    nobody = {"url": "postgresql://postgres@127.0.0.1:1/none"}
    database = open_database(DatabaseSettings.model_validate(nobody))
    with pytest.raises(DatabaseUnavailable):
        await database.ping()
    await database.close()


async def test_a_full_disk_is_told_as_what_it_is(database: Database) -> None:
    async with database.transaction() as session:
        if database.dialect == "sqlite":
            pages = (await session.execute(text("PRAGMA page_count"))).scalar_one()
            await session.execute(text(f"PRAGMA max_page_count = {pages}"))
            fill = "CREATE TABLE more AS SELECT zeroblob(1000000) AS filling"
        else:
            fill = "DO $$ BEGIN RAISE EXCEPTION 'No space left on device' USING ERRCODE = '53100'; END $$"
    with pytest.raises(DatabaseFull, match="disk of the database is full"):
        async with database.transaction() as session:
            await session.execute(text(fill))
    async with database.transaction() as session:
        await session.execute(text("SELECT 1"))
