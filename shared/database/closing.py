"""A SQLite connection whose close lets go of everything at once."""

from __future__ import annotations

import sqlite3
from typing import Any
from weakref import WeakSet


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
