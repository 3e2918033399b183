"""Tables of the SQL twins, for a service to add to its own metadata and migrations."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Index,
    Integer,
    LargeBinary,
    Table,
    Text,
    UniqueConstraint,
    delete,
)
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.functions import GenericFunction

if TYPE_CHECKING:
    from sqlalchemy import ColumnElement, MetaData
    from sqlalchemy.ext.asyncio import AsyncSession
    from sqlalchemy.schema import SchemaItem

    from shared.database import Database


class database_milliseconds(GenericFunction[int]):  # noqa: N801 - named as it is called in SQL
    """The database's own clock, in milliseconds; not the transaction's start."""

    type = BigInteger()
    inherit_cache = True


@compiles(database_milliseconds, "postgresql")
def _on_postgresql(*_: object, **__: object) -> str:
    return "CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS BIGINT)"


@compiles(database_milliseconds, "sqlite")
def _on_sqlite(*_: object, **__: object) -> str:
    return "CAST(ROUND((julianday('now') - 2440587.5) * 86400000) AS INTEGER)"


@dataclass(frozen=True, slots=True)
class DurableTables:
    """One table or two for each duty; every row belongs to a prefix."""

    checkpoints: Table
    jobs: Table
    dedupe: Table
    runs: Table
    events: Table
    event_heads: Table
    contexts: Table
    context_revisions: Table


def _text(name: str, *, key: bool = False) -> Column[str]:
    return Column(name, Text, primary_key=key, nullable=False)


def _number(name: str, *, key: bool = False) -> Column[int]:
    return Column(name, BigInteger, primary_key=key, nullable=False, autoincrement=False)


def _expiry() -> Column[int]:
    return Column("expires_at", BigInteger, nullable=True, index=True)


def _body() -> Column[bytes]:
    return Column("body", LargeBinary, nullable=False)


def durable_tables(metadata: MetaData) -> DurableTables:
    """Add the tables to a service's metadata; instants are milliseconds of the database's clock."""
    by_creation = Index("ix_durable_runs_prefix_created_at", "prefix", "created_at")
    dedupe = (_text("prefix", key=True), _text("key", key=True), _text("job_id"), _expiry())
    return DurableTables(
        checkpoints=_of_run(metadata, "checkpoints", _body(), _number("updated_at"), _expiry()),
        jobs=_jobs(metadata),
        dedupe=Table("durable_dedupe", metadata, *dedupe),
        runs=_of_run(
            metadata, "runs", _number("version"), _body(), _number("created_at"), _expiry(), by_creation
        ),
        events=_of_run(metadata, "events", _number("sequence", key=True), _body()),
        event_heads=_of_run(metadata, "event_heads", _number("last"), _expiry()),
        contexts=_of_run(metadata, "contexts", _number("latest"), _expiry()),
        context_revisions=_of_run(metadata, "context_revisions", _number("revision", key=True), _body()),
    )


def _of_run(metadata: MetaData, name: str, *parts: SchemaItem) -> Table:
    keys = (_text("prefix", key=True), _text("run_id", key=True))
    return Table(f"durable_{name}", metadata, *keys, *parts)


def _jobs(metadata: MetaData) -> Table:
    return Table(
        "durable_jobs",
        metadata,
        Column(
            "position", BigInteger().with_variant(Integer(), "sqlite"), primary_key=True, autoincrement=True
        ),
        _text("prefix"),
        _text("job_id"),
        _body(),
        # waiting, leased or dead: one column, so that a job is in exactly one place.
        _text("place"),
        _number("due_at"),
        _number("enqueued_at"),
        _number("attempts"),
        _number("deliveries"),
        Column("lease_id", Text, nullable=True),
        Column("worker_id", Text, nullable=True),
        Column("lease_expires_at", BigInteger, nullable=True),
        Column("cancel_requested", Boolean, nullable=False),
        Column("died_at", BigInteger, nullable=True),
        Column("error", Text, nullable=True),
        UniqueConstraint("prefix", "job_id"),
        Index("ix_durable_jobs_next", "prefix", "place", "due_at", "position"),
    )


@dataclass(frozen=True, slots=True)
class SqlStorage:
    """A service's database and the durable tables in it."""

    database: Database
    tables: DurableTables

    def insert(self, table: Table) -> Any:
        """An insert that knows ON CONFLICT; both databases spell it alike, in two classes."""
        return (sqlite if self.database.dialect == "sqlite" else postgresql).insert(table)

    async def purge_expired(self) -> int:
        """Remove every row whose retention has ended; for a janitor. Answers how many."""
        tables = self.tables
        removed = 0
        async with self.database.transaction() as session:
            for table in (
                tables.checkpoints,
                tables.runs,
                tables.contexts,
                tables.event_heads,
                tables.dedupe,
            ):
                gone = await session.execute(delete(table).where(expired(table)))
                removed += cast("Any", gone).rowcount
            await _remove_orphans(session, tables.context_revisions, tables.contexts)
            await _remove_orphans(session, tables.events, tables.event_heads)
        return removed


async def _remove_orphans(session: AsyncSession, table: Table, parents: Table) -> None:
    parent = parents.select().where(parents.c.prefix == table.c.prefix, parents.c.run_id == table.c.run_id)
    await session.execute(delete(table).where(~parent.exists()))


def expired(table: Table) -> ColumnElement[bool]:
    """Whether a row's retention has ended."""
    return table.c.expires_at <= database_milliseconds()


def alive(table: Table) -> ColumnElement[bool]:
    """Whether a row is still kept."""
    return table.c.expires_at.is_(None) | (table.c.expires_at > database_milliseconds())


async def database_now(session: AsyncSession) -> int:
    """The database's clock; workers whose own clocks are wrong change nothing."""
    return int((await session.scalars(database_milliseconds().select())).one())
