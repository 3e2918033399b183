"""A large transaction has room on SQLite, and takes it from nobody afterwards."""

from contextlib import suppress
from pathlib import Path

import pytest
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession

from shared.database import Database, DatabaseSettings, make_room, open_database

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
