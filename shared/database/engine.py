"""Engines for SQLite and PostgreSQL, and the `Database` that services are given.

SQLite with its driver's defaults loses updates (read, then update, under a deferred BEGIN). Here one
writer connection begins every transaction with BEGIN IMMEDIATE, and readers have a pool of their own
that cannot write. PostgreSQL needs one engine for both.
"""

from __future__ import annotations

import asyncio
import os
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, SecretStr, field_validator
from sqlalchemy import event, make_url, text
from sqlalchemy.exc import ArgumentError, InvalidatePoolError
from sqlalchemy.ext.asyncio import AsyncEngine, AsyncSession, async_sessionmaker, create_async_engine
from sqlalchemy.util import await_only
from sqlalchemy.util.concurrency import in_greenlet

from shared.database.closing import ClosingConnection, connected
from shared.database.direct import TRUSTED_SECONDS, Direct
from shared.database.large import Settling
from shared.database.transaction import transaction

if TYPE_CHECKING:
    from contextlib import AbstractAsyncContextManager

    from sqlalchemy import Connection
    from sqlalchemy.engine import URL

_BUSY_MILLISECONDS = 5000
_POOL_SECONDS = 10
#: Connections that read a SQLite file at once.
_READERS = 4
#: Of so many connections, one is kept for single statements.
_POOL_FOR_ONE_KEPT = 4
_LAST_USE = "routeloom.last_use"


class DatabaseSettings(BaseModel):
    """Where a service keeps its facts."""

    model_config = ConfigDict(frozen=True)

    url: SecretStr = Field(
        description="`sqlite:////absolute/path.db` or `postgresql://user@host/database`; the driver is ours"
    )
    pool_size: int = Field(default=10, ge=1, le=200, description="Connections of one process to PostgreSQL")

    @field_validator("url")
    @classmethod
    def _known_database(cls, value: SecretStr) -> SecretStr:
        try:
            name = make_url(value.get_secret_value()).get_backend_name()
        except ArgumentError:
            message = "is not a database URL; use sqlite:////absolute/path.db or postgresql://user@host/name"
            raise ValueError(message) from None
        if name not in {"sqlite", "postgresql"}:
            message = f"{name} is not supported; use sqlite or postgresql"
            raise ValueError(message)
        return value

    @property
    def parsed(self) -> URL:
        """The URL with our own driver."""
        url = make_url(self.url.get_secret_value())
        driver = "sqlite+aiosqlite" if url.get_backend_name() == "sqlite" else "postgresql+asyncpg"
        return url.set(drivername=driver)


@dataclass(frozen=True, slots=True)
class Database:
    """Sessions for writing and for reading."""

    writer: AsyncEngine
    reader: AsyncEngine
    _writing: async_sessionmaker[AsyncSession]
    _reading: async_sessionmaker[AsyncSession]
    _direct: Direct | None = None
    _settling: Settling | None = None

    @property
    def dialect(self) -> Literal["sqlite", "postgresql"]:
        """Which database this is."""
        return "sqlite" if self.writer.dialect.name == "sqlite" else "postgresql"

    @property
    def direct(self) -> Direct | None:
        """For single statements that must be quick; None on SQLite, where a session costs no round trip."""
        return self._direct

    def transaction(self) -> AbstractAsyncContextManager[AsyncSession]:
        """A session that commits at the end of the body. Holds SQLite's only writer: no network inside."""
        return transaction(self._writing)

    def reading(self) -> AbstractAsyncContextManager[AsyncSession]:
        """A session that sees one snapshot and cannot write."""
        return transaction(self._reading)

    async def ping(self) -> None:
        """Ask the database for an answer. Raises DatabaseUnavailable."""
        async with self.reading() as session:
            await session.execute(text("SELECT 1"))

    async def close(self) -> None:
        """Close every connection."""
        if self._direct is not None:
            await self._direct.close()
        if self._settling is not None:
            await self._settling.ended()
        await self.reader.dispose()
        if self.writer is not self.reader:
            await self.writer.dispose()


def open_database(settings: DatabaseSettings) -> Database:
    """Build the engines; nothing is connected until the first use."""
    url = settings.parsed
    if url.get_backend_name() == "sqlite":
        writer = _sqlite_engine(url, begin="BEGIN IMMEDIATE", connections=1, read_only=False)
        reader = _sqlite_engine(url, begin="BEGIN", connections=_READERS, read_only=True)
    else:
        writer = reader = create_async_engine(
            url, pool_size=settings.pool_size, max_overflow=0, pool_timeout=_POOL_SECONDS
        )
        _never_hand_out_the_dead(writer)
    return Database(
        writer=writer,
        reader=reader,
        _writing=async_sessionmaker(writer, expire_on_commit=False),
        _reading=async_sessionmaker(
            reader.execution_options(postgresql_readonly=True, isolation_level="REPEATABLE READ")
            if reader is writer
            else reader,
            expire_on_commit=False,
        ),
        _settling=Settling(writer, url.database or "") if reader is not writer else None,
        _direct=Direct(writer, settings.pool_size // _POOL_FOR_ONE_KEPT) if reader is writer else None,
    )


def _never_hand_out_the_dead(engine: AsyncEngine) -> None:
    """Ask a connection whether it lives before it is used, unless it was used a moment ago.

    The pool's own way asks every time, with a transaction around it: three round trips before each of ours.
    A server that went away in order closed its connections, which costs no question to see.
    """

    @event.listens_for(engine.sync_engine, "checkout")
    def _check(connection: Any, record: Any, _proxy: Any) -> None:
        used = record.info.get(_LAST_USE)
        if used is None:
            return
        if connection.driver_connection.is_closed():
            raise InvalidatePoolError
        if monotonic() - used > TRUSTED_SECONDS:
            try:
                alive = engine.dialect.do_ping(connection)
            except engine.dialect.loaded_dbapi.Error:
                alive = False
            if not alive:
                raise InvalidatePoolError

    @event.listens_for(engine.sync_engine, "checkin")
    def _note(_connection: Any, record: Any) -> None:
        record.info[_LAST_USE] = monotonic()


def _close_in_order(connection: Any) -> None:
    """Close a connection whose task was cancelled, and let nothing stop its thread in the middle of that.

    The dialect's own way stops the thread when a second cancellation comes; the close that is under way then
    waits for that thread for ever, and so does whoever ends the event loop. A local file closes at once.
    """
    if in_greenlet():
        await_only(asyncio.shield(connection.driver_connection.close()))
    else:
        connection.terminate()


def keep_private(file: Path) -> None:
    """Make the file for its owner alone, before SQLite makes it for everybody; its log takes the same mode.

    No descriptor is opened: closing one would free every lock that this process has on the file (POSIX),
    and the next process to leave the database would delete the log that we still write.
    What is in the way is left to SQLite, which says it with the reason.
    """
    with suppress(OSError):
        try:
            os.mknod(file, 0o600)
        except FileExistsError:
            file.chmod(0o600)


def _sqlite_engine(url: URL, *, begin: str, connections: int, read_only: bool) -> AsyncEngine:
    engine = create_async_engine(
        url,
        pool_size=connections,
        max_overflow=0,
        pool_timeout=_POOL_SECONDS,
        connect_args={
            "isolation_level": None,
            "timeout": _BUSY_MILLISECONDS / 1000,
            "factory": ClosingConnection,
            "async_creator_fn": connected,
        },
    )

    engine.dialect.do_terminate = _close_in_order  # type: ignore[assignment]

    @event.listens_for(engine.sync_engine, "do_connect")
    def _create(*_arguments: Any) -> None:
        if url.database and url.database != ":memory:":
            keep_private(Path(url.database))

    @event.listens_for(engine.sync_engine, "connect")
    def _configure(connection: Any, _record: Any) -> None:
        cursor = connection.cursor()
        cursor.execute(f"PRAGMA busy_timeout = {_BUSY_MILLISECONDS}")
        cursor.execute("PRAGMA journal_mode = WAL")
        cursor.execute("PRAGMA synchronous = FULL")
        cursor.execute("PRAGMA foreign_keys = ON")
        if read_only:
            cursor.execute("PRAGMA query_only = ON")
        cursor.close()

    @event.listens_for(engine.sync_engine, "begin")
    def _begin(connection: Connection) -> None:
        connection.exec_driver_sql(begin)

    return engine
