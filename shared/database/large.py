"""Transactions that write much, on SQLite: room for what they change, until they have ended."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlalchemy import event

if TYPE_CHECKING:
    from sqlalchemy.ext.asyncio import AsyncEngine, AsyncSession

_LARGE = "routeloom.large"
#: KiB of pages in memory; SQLite's own 2 MiB would be written, read and written again.
_ROOM = 16_384
#: The last of them waits for the next commit, which is small.
_LARGE_PRAGMAS = (f"PRAGMA cache_size = -{_ROOM}", "PRAGMA wal_autocheckpoint = 0")
_USUAL_PRAGMAS = ("PRAGMA cache_size = -2000", "PRAGMA shrink_memory", "PRAGMA wal_autocheckpoint = 1000")


async def make_room(session: AsyncSession) -> None:
    """Keep what this transaction changes in memory until it commits. PostgreSQL needs no word."""
    connection = await session.connection()
    if connection.dialect.name == "sqlite":
        (await connection.get_raw_connection()).info[_LARGE] = True
        for pragma in _LARGE_PRAGMAS:
            await connection.exec_driver_sql(pragma)


def take_room_back(engine: AsyncEngine) -> None:
    """Have the engine's connections as they were, whatever became of the transaction."""

    @event.listens_for(engine.sync_engine, "checkin")
    def _restore(connection: Any, record: Any) -> None:
        if connection is not None and record.info.pop(_LARGE, False):
            cursor = connection.cursor()
            for pragma in _USUAL_PRAGMAS:
                cursor.execute(pragma)
            cursor.close()
