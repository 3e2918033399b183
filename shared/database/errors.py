"""Which failures of a database are refusals, and which are bugs."""

from __future__ import annotations

import errno
import sqlite3
from collections.abc import Iterator
from datetime import timedelta

from sqlalchemy.exc import DBAPIError
from sqlalchemy.exc import TimeoutError as PoolTimeout

from shared.kernel.errors import AppError, Kind

_SQLITE_AWAY = {
    sqlite3.SQLITE_BUSY,
    sqlite3.SQLITE_LOCKED,
    sqlite3.SQLITE_IOERR,
    sqlite3.SQLITE_FULL,
    sqlite3.SQLITE_CANTOPEN,
    sqlite3.SQLITE_READONLY,
}
#: SQLSTATE classes: connection, resources, operator intervention, transaction rollback.
_POSTGRES_AWAY = ("08", "53", "57", "40")


class DatabaseUnavailable(AppError):
    """The database does not answer. Nothing was changed; try again."""

    kind = Kind.UNAVAILABLE
    code = "database_unavailable"

    def __init__(self) -> None:
        """Ask for another try soon."""
        super().__init__(retry_after=timedelta(seconds=2))


class DatabaseFull(DatabaseUnavailable):
    """The disk of the database is full. Nothing was changed; free some space and try again."""

    code = "database_full"


#: SQLSTATE disk_full.
_POSTGRES_FULL = "53100"


#: SQLSTATE character_not_in_repertoire, untranslatable_character: PostgreSQL keeps no NUL in a text or JSON.
_NO_TEXT = frozenset({"22021", "22P05"})


class TextRefused(AppError):
    """A text holds a character that cannot be stored, such as NUL. Leave it out."""

    kind = Kind.INVALID
    code = "text_refused"


def is_refused_text(error: BaseException) -> bool:
    """Whether the database refuses a character of a text that a caller sent."""
    return isinstance(error, DBAPIError) and getattr(error.orig, "sqlstate", None) in _NO_TEXT


def refusal_of(error: BaseException) -> DatabaseUnavailable:
    """What callers are told where the database is away, full or busy."""
    orig = error.orig if isinstance(error, DBAPIError) else error
    full = any(_is_full(each) for each in _causes(orig))
    return DatabaseFull() if full else DatabaseUnavailable()


def is_unavailable(error: BaseException) -> bool:
    """Whether the database is away, full or busy, as against refusing a statement of ours."""
    if isinstance(error, PoolTimeout | OSError):
        return True
    if not isinstance(error, DBAPIError):
        return False
    if error.connection_invalidated:
        return True
    return _stands_for_absence(error.orig)


def is_unavailable_by_driver(error: BaseException) -> bool:
    """The same where nothing stands between PostgreSQL's driver and us."""
    from asyncpg import InterfaceError  # noqa: PLC0415 - whoever uses SQLite needs no such driver

    # An interface error is a connection that broke off or was closed while it was used.
    return isinstance(error, PoolTimeout | InterfaceError) or _stands_for_absence(error)


def _stands_for_absence(error: BaseException | None) -> bool:
    return any(_names_absence(each) for each in _causes(error))


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__


def _is_full(error: BaseException) -> bool:
    code = getattr(error, "sqlite_errorcode", None)
    if code is not None:
        return bool(code & 0xFF == sqlite3.SQLITE_FULL)
    if isinstance(error, OSError) and error.errno == errno.ENOSPC:
        return True
    return getattr(error, "sqlstate", None) == _POSTGRES_FULL


def _names_absence(error: BaseException) -> bool:
    code = getattr(error, "sqlite_errorcode", None)
    if code is not None:
        return code & 0xFF in _SQLITE_AWAY
    state = getattr(error, "sqlstate", None)
    if isinstance(state, str):
        return state.startswith(_POSTGRES_AWAY)
    return isinstance(error, OSError)
