"""SQLite connections that leave nothing behind: neither a transaction nor a thread."""

from __future__ import annotations

import asyncio
import sqlite3
from typing import Any
from weakref import WeakSet

import aiosqlite


class ClosingConnection(sqlite3.Connection):
    """Rolls back and closes its cursors before it is closed.

    `sqlite3_close_v2`, which Python calls, leaves a connection open as long as a statement of it is not
    finished, and its transaction with it: every other writer is locked out. Such a statement belongs to a
    cursor that a cancelled task has left in its traceback, until the garbage collector comes by.
    """

    def __init__(self, *arguments: Any, **options: Any) -> None:
        """As `sqlite3.connect` does."""
        super().__init__(*arguments, **options)
        self._cursors: WeakSet[sqlite3.Cursor] = WeakSet()

    def cursor(self, *arguments: Any, **options: Any) -> Any:
        """A cursor that ends with this connection."""
        cursor = super().cursor(*arguments, **options)
        self._cursors.add(cursor)
        return cursor

    def close(self) -> None:
        """Close, and with it end the transaction."""
        for cursor in list(self._cursors):
            cursor.close()
        if self.in_transaction:
            self.rollback()
        super().close()


async def connected(*arguments: Any, **options: Any) -> aiosqlite.Connection:
    """As `aiosqlite.connect` does; one that could not be opened returns once its thread has ended.

    The driver lets such a thread go on by itself, which then may speak to an event loop that is closed.
    """
    connection = aiosqlite.connect(*arguments, **options)
    thread = connection._thread  # noqa: SLF001 - as SQLAlchemy does, which is not called here
    thread.daemon = True  # a connection that nobody closed keeps no process from ending
    try:
        return await connection
    except BaseException:
        await asyncio.to_thread(thread.join)
        raise
