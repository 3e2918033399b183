"""A command on the host beside a server that runs: neither takes the other's writes away."""

import asyncio
import sys
from pathlib import Path

from sqlalchemy import text

from shared.database import Database, DatabaseSettings, open_database

#: What a command does: it writes, and is the last one to leave as far as it can see.
COMMAND = """
import sqlite3, sys
connection = sqlite3.connect(sys.argv[1])
connection.execute("INSERT INTO rows VALUES ('command')")
connection.commit()
connection.close()
"""


async def write(database: Database, statement: str) -> None:
    async with database.transaction() as session:
        await session.execute(text(statement))


async def run_command(file: Path) -> None:
    process = await asyncio.create_subprocess_exec(sys.executable, "-c", COMMAND, str(file))
    assert await asyncio.wait_for(process.wait(), 60) == 0


async def test_a_new_connection_leaves_the_locks_of_the_others(tmp_path: Path) -> None:
    file = tmp_path / "rows.db"
    database = open_database(DatabaseSettings.model_validate({"url": f"sqlite:///{file}"}))
    await write(database, "CREATE TABLE rows (who TEXT)")
    async with database.reading() as first, database.reading() as second:
        # Both are needed: the second one is connected while the first has its locks.
        for session in (first, second):
            await session.execute(text("SELECT 1 FROM rows"))
        await run_command(file)
        assert (tmp_path / "rows.db-wal").exists(), "the log that this process writes was deleted"
    await write(database, "INSERT INTO rows VALUES ('server')")
    await run_command(file)
    async with database.reading() as session:
        found = (await session.execute(text("SELECT who FROM rows"))).scalars().all()
    await database.close()
    assert found == ["command", "server", "command"]


async def test_the_files_are_their_owners_alone(tmp_path: Path) -> None:
    file = tmp_path / "rows.db"
    file.touch(0o644)
    for name in ("rows.db", "fresh.db"):
        database = open_database(DatabaseSettings.model_validate({"url": f"sqlite:///{tmp_path / name}"}))
        await write(database, "CREATE TABLE rows (who TEXT)")
        modes = {path.stat().st_mode & 0o777 for path in tmp_path.glob(f"{name}*")}
        await database.close()
        assert modes == {0o600}
