"""Transactions that write much, on SQLite: room for what they change until their connection is given back."""

from __future__ import annotations

import asyncio
import sqlite3
from contextlib import closing, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sqlalchemy import event

if TYPE_CHECKING:
    from sqlalchemy.ext.asyncio import AsyncEngine, AsyncSession

_LARGE = "routeloom.large"
#: KiB of pages in memory; SQLite's own 2 MiB would be written, read and written again.
_ROOM = 16_384
#: What the transaction wrote goes from the log into the database afterwards.
_LARGE_PRAGMAS = (f"PRAGMA cache_size = -{_ROOM}", "PRAGMA wal_autocheckpoint = 0")
_USUAL_PRAGMAS = ("PRAGMA cache_size = -2000", "PRAGMA shrink_memory", "PRAGMA wal_autocheckpoint = 1000")


async def make_room(session: AsyncSession) -> None:
    """Keep what this transaction changes in memory until it commits. PostgreSQL needs no word."""
    connection = await session.connection()
    if connection.dialect.name == "sqlite":
        (await connection.get_raw_connection()).info[_LARGE] = True
        for pragma in _LARGE_PRAGMAS:
            await connection.exec_driver_sql(pragma)


class Settling:
    """Puts things back after each large transaction of an engine, whatever became of it."""

    def __init__(self, engine: AsyncEngine, file: str) -> None:
        """Look at each connection that is given back."""
        self._uri = f"{Path(file).absolute().as_uri()}?mode=rw"
        self._running: set[asyncio.Task[None]] = set()
        event.listen(engine.sync_engine, "checkin", self._given_back)

    def _given_back(self, connection: Any, record: Any) -> None:
        if connection is None or not record.info.pop(_LARGE, False):
            return
        cursor = connection.cursor()
        for pragma in _USUAL_PRAGMAS:
            cursor.execute(pragma)
        cursor.close()
        task = asyncio.get_running_loop().create_task(asyncio.to_thread(self._empty_log))
        self._running.add(task)
        task.add_done_callback(self._running.discard)

    def _empty_log(self) -> None:
        """Spare the next small transaction the work; readers and writers go on meanwhile."""
        with suppress(sqlite3.Error), closing(sqlite3.connect(self._uri, uri=True)) as connection:
            connection.execute("PRAGMA wal_checkpoint(PASSIVE)")

    async def ended(self) -> None:
        """Wait until all is put back."""
        if self._running:
            await asyncio.wait(self._running)
