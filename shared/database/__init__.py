"""One way to SQL: engines, transactions, column types, migrations, on SQLite and PostgreSQL."""

from shared.database.base import ANNOTATIONS, new_metadata
from shared.database.direct import Direct
from shared.database.engine import Database, DatabaseSettings, open_database
from shared.database.errors import DatabaseFull, DatabaseUnavailable, refusal_of
from shared.database.large import make_room
from shared.database.transaction import after_commit, forget_after_commit
from shared.database.types import JsonValue, SpelledJson, UtcDateTime

__all__ = [
    "ANNOTATIONS",
    "Database",
    "DatabaseFull",
    "DatabaseSettings",
    "DatabaseUnavailable",
    "Direct",
    "JsonValue",
    "SpelledJson",
    "UtcDateTime",
    "after_commit",
    "forget_after_commit",
    "make_room",
    "new_metadata",
    "open_database",
    "refusal_of",
]
