"""A large transaction has room on SQLite, and takes it from nobody afterwards."""

from contextlib import suppress
from pathlib import Path

import pytest
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession

from shared.database import Database, DatabaseSettings, make_room, open_database
from shared.testing.waiting import wait_until

ASKED = ("cache_size", "wal_autocheckpoint")


@pytest.fixture
async def database(tmp_path: Path) -> Database:
    return open_database(DatabaseSettings.model_validate({"url": f"sqlite:///{tmp_path}/large.db"}))


async def told(session: AsyncSession) -> list[int]:
    return [await session.scalar(text(f"PRAGMA {name}")) or 0 for name in ASKED]


@pytest.mark.parametrize("fails", [False, True])
async def test_the_room_is_given_back_whatever_becomes_of_it(database: Database, fails: bool) -> None:
    async with database.transaction() as session:
        usual = await told(session)
    with suppress(LookupError):
        async with database.transaction() as session:
            await make_room(session)
            large = await told(session)
            if fails:
                [].pop()
    async with database.transaction() as session:
        assert await told(session) == usual
    await database.close()
    assert usual == [-2000, 1000]
    assert large[0] < usual[0]
    assert large[1] == 0


async def test_the_log_is_emptied_afterwards_and_by_nobody_who_waits(
    database: Database, tmp_path: Path
) -> None:
    async with database.transaction() as session:
        await session.execute(text("CREATE TABLE wide (value BLOB)"))
    async with database.transaction() as session:
        await make_room(session)
        await session.execute(text("INSERT INTO wide VALUES (zeroblob(8000000))"))
    file = tmp_path / "large.db"
    assert file.with_name("large.db-wal").stat().st_size > 8_000_000
    await wait_until(lambda: file.stat().st_size > 8_000_000)
    async with database.reading() as session:
        assert await session.scalar(text("SELECT length(value) FROM wide")) == 8_000_000
    await database.close()


async def test_whoever_closes_the_database_waits_for_that(database: Database, tmp_path: Path) -> None:
    async with database.transaction() as session:
        await make_room(session)
        await session.execute(text("CREATE TABLE wide AS SELECT zeroblob(8000000) AS value"))
    await database.close()
    assert not (tmp_path / "large.db-wal").exists()
    assert (tmp_path / "large.db").stat().st_size > 8_000_000
