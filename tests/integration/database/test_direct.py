"""Single statements by the driver alone: the same values, the same refusals, and nothing left open."""

import asyncio
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import pytest
from sqlalchemy import Table, bindparam, insert, select, text, update
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column

from shared.database import (
    ANNOTATIONS,
    Database,
    DatabaseSettings,
    DatabaseUnavailable,
    Direct,
    new_metadata,
    open_database,
)
from shared.testing.servers import PostgresServer, postgres_server


class Base(DeclarativeBase):
    metadata = new_metadata()
    type_annotation_map = ANNOTATIONS


class Note(Base):
    __tablename__ = "notes"

    id: Mapped[UUID] = mapped_column(primary_key=True)
    words: Mapped[list[str]]
    at: Mapped[datetime]
    told: Mapped[datetime | None]


NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
NOTES: Any = Note.__table__
assert isinstance(NOTES, Table)
READ = select(Note.id, Note.words, Note.at, Note.told).where(Note.id == bindparam("ident"))
_told = (
    update(NOTES)
    .where(NOTES.c.id == bindparam("ident"), NOTES.c.told.is_(None))
    .values(told=bindparam("when"))
    .returning(NOTES.c.id)
    .cte("told")
)
TELL = select(_told.c.id)


@pytest.fixture
async def notes(postgres: PostgresServer) -> AsyncIterator[Database]:
    with postgres.database() as url:
        opened = open_database(DatabaseSettings.model_validate({"url": url, "pool_size": 2}))
        async with opened.writer.begin() as connection:
            await connection.run_sync(Base.metadata.create_all)
        yield opened
        await opened.close()


def direct_of(database: Database) -> Direct:
    assert database.direct is not None
    return database.direct


async def a_note(database: Database) -> UUID:
    ident = uuid4()
    async with database.transaction() as session:
        values = {"id": ident, "words": ["a", "ü"], "at": NOON, "told": None}
        await session.execute(insert(NOTES), values)
    return ident


async def test_values_come_out_as_from_a_session(notes: Database) -> None:
    ident = await a_note(notes)
    found = await direct_of(notes).first(READ, {"ident": ident})
    async with notes.reading() as session:
        row = (await session.execute(READ, {"ident": ident})).one()
    assert found == tuple(row)
    assert found == (ident, ["a", "ü"], NOON, None)


async def test_nothing_is_none(notes: Database) -> None:
    assert await direct_of(notes).first(READ, {"ident": uuid4()}) is None


async def test_what_it_changes_is_committed_and_succeeds_once(notes: Database) -> None:
    ident, direct = await a_note(notes), direct_of(notes)
    values = {"ident": ident, "when": NOON}
    found = await asyncio.gather(*(direct.first(TELL, values) for _ in range(12)))
    assert sorted(map(str, filter(None, found))) == [str((ident,))]
    async with notes.reading() as session:
        assert await session.scalar(select(Note.told).where(Note.id == ident)) == NOON


async def test_its_connections_go_back_to_the_pool(notes: Database) -> None:
    ident, direct = await a_note(notes), direct_of(notes)
    await asyncio.gather(*(direct.first(READ, {"ident": ident}) for _ in range(20)))
    async with notes.transaction(), notes.transaction() as session:
        assert await session.scalar(text("SELECT 1")) == 1


async def test_a_few_are_kept_out_of_the_pool_and_come_back_at_the_end(postgres: PostgresServer) -> None:
    with postgres.database() as url:
        database = open_database(DatabaseSettings.model_validate({"url": url, "pool_size": 4}))
        async with database.writer.begin() as connection:
            await connection.run_sync(Base.metadata.create_all)
        ident, direct = await a_note(database), direct_of(database)
        await asyncio.gather(*(direct.first(READ, {"ident": ident}) for _ in range(20)))
        pool: Any = database.writer.sync_engine.pool
        assert pool.checkedout() == direct.most_kept == 1
        await direct.close()
        assert pool.checkedout() == 0
        assert await direct.first(READ, {"ident": ident}) is not None
        await database.close()


async def test_a_database_that_is_away_is_said_to_be(tmp_path: Path) -> None:
    with postgres_server(tmp_path / "postgres") as server, server.database() as url:
        database = open_database(DatabaseSettings.model_validate({"url": url}))
        async with database.writer.begin() as connection:
            await connection.run_sync(Base.metadata.create_all)
        ident, direct = await a_note(database), direct_of(database)
        assert await direct.first(READ, {"ident": ident}) is not None
        server.stop()
        for _ in range(3):
            with pytest.raises(DatabaseUnavailable):
                await direct.first(READ, {"ident": ident})
        server.start()
        assert await direct.first(READ, {"ident": ident}) is not None
        await database.close()


async def test_sqlite_has_none(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'facts.db'}"
    database = open_database(DatabaseSettings.model_validate({"url": url}))
    assert database.direct is None
    await database.close()
