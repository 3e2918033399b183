"""Transactions that are cancelled, again and again, leave nothing behind: no lock, no process without end."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncResult

from shared.database import DatabaseSettings, DatabaseUnavailable, open_database

_PROGRAM = """
import asyncio, sys
from sqlalchemy import text
from shared.database import DatabaseSettings, open_database

COUNTED = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000000)"
SLOW = f"{COUNTED} SELECT count(*) FROM n"

async def work(database, begun):
    async with database.reading() as session:
        await session.execute(text("SELECT 1"))
        begun.set()
        await session.execute(text(SLOW))

async def main(cancellations, closes):
    database = open_database(DatabaseSettings.model_validate({"url": f"sqlite:///{sys.argv[1]}"}))
    async with database.transaction() as session:
        await session.execute(text("CREATE TABLE t (i INTEGER)"))
    begun = asyncio.Event()
    task = asyncio.create_task(work(database, begun))
    await begun.wait()
    for _ in range(cancellations):
        await asyncio.sleep(0.01)
        task.cancel()
    await asyncio.wait({task})
    if closes:
        async with database.reading() as session:
            assert (await session.execute(text("SELECT 1"))).scalar() == 1
        await database.close()

with asyncio.Runner() as runner:
    runner.run(main(int(sys.argv[2]), sys.argv[3] == "closes"))
print("ended")
"""


@pytest.mark.parametrize("then", ["closes", "leaves"])
@pytest.mark.parametrize("cancellations", [1, 2, 3])
def test_the_process_ends(tmp_path: Path, cancellations: int, then: str) -> None:
    command = [sys.executable, "-c", _PROGRAM, str(tmp_path / "x.db"), str(cancellations), then]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert (ended.returncode, ended.stdout) == (0, "ended\n"), ended.stderr


SLOW = """
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3000000) SELECT count(*) FROM n
"""


async def test_an_unfinished_statement_that_is_still_held_locks_nobody_out(tmp_path: Path) -> None:
    settings = DatabaseSettings.model_validate({"url": f"sqlite:///{tmp_path / 'x.db'}"})
    database, kept, begun = open_database(settings), list[AsyncResult[tuple[int]]](), asyncio.Event()
    async with database.transaction() as session:
        await session.execute(text("CREATE TABLE t (i INTEGER)"))
        await session.execute(text("INSERT INTO t VALUES (1), (2), (3)"))

    async def write() -> None:
        async with database.transaction() as session:
            kept.append(await session.stream(text("UPDATE t SET i = i + 1 RETURNING i")))
            begun.set()
            await session.execute(text(SLOW))

    task = asyncio.create_task(write())
    await begun.wait()
    await asyncio.sleep(0.01)
    task.cancel()
    await asyncio.wait({task})
    async with database.transaction() as session:
        await session.execute(text("UPDATE t SET i = 0"))
    assert task.cancelled()
    assert kept
    await database.close()


async def test_a_connection_that_cannot_be_opened_leaves_no_thread(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'missing' / 'routeloom.db'}"
    database = open_database(DatabaseSettings.model_validate({"url": url}))
    before = set(threading.enumerate())
    for _ in range(20):
        with pytest.raises(DatabaseUnavailable):
            async with database.reading() as session:
                await session.execute(text("SELECT 1"))
        new = [thread.name for thread in threading.enumerate() if thread not in before]
        assert not [name for name in new if "connection_worker" in name]
    await database.close()
