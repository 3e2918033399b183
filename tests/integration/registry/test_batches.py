"""Statements that go to the database in one go are part of the session's transaction, and fail as its own."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable

import pytest
from sqlalchemy import Dialect, func, select, text
from sqlalchemy.exc import DBAPIError

from registry_server.objects.models import FilterRow
from registry_server.tables import Ask, Base, Work, among, carry_out, insertion, prepare
from shared.database import Database, DatabaseSettings, DatabaseUnavailable, open_database

FILTERS = Base.metadata.tables[FilterRow.__tablename__]
ROWS = [(f"data/filter{number}.txt", bytes([number])) for number in range(5)]


@pytest.fixture
async def database(database_url: str) -> AsyncIterator[Database]:
    opened = open_database(DatabaseSettings.model_validate({"url": database_url}))
    yield opened
    await opened.close()


def storing(dialect: Dialect) -> Work[None]:
    yield insertion(FILTERS, dialect).ask_each(ROWS)


def finding(*paths: str) -> Callable[[Dialect], Work[list[tuple[str, bytes]]]]:
    def work(dialect: Dialect) -> Work[list[tuple[str, bytes]]]:
        wanted = select(FILTERS).where(among(FILTERS.c.path, "paths", dialect)).order_by(FILTERS.c.path)
        found = yield prepare(wanted, dialect).ask({"paths": list(paths)})
        return [(path, raw) for path, raw in found]

    return work


async def test_what_was_stored_is_found_by_a_list_of_any_length(database: Database) -> None:
    async with database.transaction() as session:
        await session.execute(text("SELECT 1"))
        await carry_out(session, storing)
        for count in range(len(ROWS) + 1):
            asked = [path for path, _ in ROWS[:count]]
            assert await carry_out(session, finding(*asked, "data/none")) == ROWS[:count]


async def test_it_goes_back_with_the_transaction(database: Database) -> None:
    with pytest.raises(ZeroDivisionError):
        async with database.transaction() as session:
            await session.execute(text("SELECT 1"))
            await carry_out(session, storing)
            raise ZeroDivisionError
    async with database.reading() as session:
        assert await session.scalar(select(func.count()).select_from(FilterRow)) == 0


async def test_an_error_of_the_work_ends_it(database: Database) -> None:
    def failing(dialect: Dialect) -> Work[None]:
        yield from storing(dialect)
        raise LookupError

    with pytest.raises(LookupError):
        async with database.transaction() as session:
            await session.execute(text("SELECT 1"))
            await carry_out(session, failing)


async def test_what_the_database_refuses_is_an_error_of_the_database(database: Database) -> None:
    def twice(dialect: Dialect) -> Work[None]:
        yield from storing(dialect)
        yield from storing(dialect)

    with pytest.raises(DBAPIError):
        async with database.transaction() as session:
            await session.execute(text("SELECT 1"))
            await carry_out(session, twice)


async def test_a_database_that_goes_away_in_the_middle_is_unavailable(database: Database) -> None:
    def dying(dialect: Dialect) -> Work[None]:
        if dialect.name == "sqlite":
            # Refused like a full disk: this connection is for readers.
            yield from storing(dialect)
        yield Ask("SELECT pg_terminate_backend(pg_backend_pid())")
        yield Ask("SELECT 1")

    with pytest.raises(DatabaseUnavailable):
        async with database.reading() as session:
            await session.execute(text("SELECT 1"))
            await carry_out(session, dying)
    async with database.reading() as session:
        assert await session.scalar(text("SELECT 1")) == 1
