"""Run records in SQL: one row a run."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from sqlalchemy import delete, select, update

from shared.durable.codecs import PayloadCodec
from shared.durable.config import Retention, SqlConfig
from shared.durable.errors import RunConflictError
from shared.durable.keys import check_identifier
from shared.durable.sql_tables import alive, database_now, expired
from shared.durable.wire import decode_run, encode_run, to_milliseconds

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from sqlalchemy import ColumnElement
    from sqlalchemy.ext.asyncio import AsyncSession

    from shared.durable.records import RunRecord
    from shared.durable.sql_tables import SqlStorage


class SqlRunRepository:
    """State and outcome for control surfaces; not a checkpoint and not a substitute for one."""

    def __init__(
        self,
        storage: SqlStorage,
        config: SqlConfig | None = None,
        codec: PayloadCodec | None = None,
        *,
        retention: Retention | None = None,
    ) -> None:
        """Use the service's database, which stays the service's to close."""
        self._storage = storage
        self._table = storage.tables.runs
        self._prefix = (config or SqlConfig()).prefix
        self._codec = codec or PayloadCodec()
        self._retention = retention or Retention()

    async def create(self, record: RunRecord) -> None:
        """Store a new record as version 0."""
        table = self._table
        async with self._storage.database.transaction() as session:
            await session.execute(delete(table).where(self._row(record.run_id), expired(table)))
            values = await self._values(session, replace(record, version=0))
            row = self._storage.insert(table).values(
                prefix=self._prefix,
                run_id=record.run_id,
                created_at=to_milliseconds(record.created_at),
                **values,
            )
            added = await session.execute(row.on_conflict_do_nothing().returning(table.c.run_id))
            if added.first() is None:
                current = await session.scalar(select(table.c.version).where(self._row(record.run_id)))
                raise RunConflictError(record.run_id, None, current)

    async def get(self, run_id: str) -> RunRecord | None:
        """Return the record, None when there is none."""
        query = select(self._table.c.body).where(self._row(run_id), alive(self._table))
        async with self._storage.database.reading() as session:
            stored = await session.scalar(query)
        return None if stored is None else decode_run(self._codec, bytes(stored))

    async def list_recent(self, limit: int = 100, offset: int = 0) -> Sequence[RunRecord]:
        """Return the latest created first."""
        table = self._table
        query = select(table.c.body).where(table.c.prefix == self._prefix, alive(table))
        query = query.order_by(table.c.created_at.desc(), table.c.run_id.desc()).limit(limit).offset(offset)
        async with self._storage.database.reading() as session:
            stored = (await session.scalars(query)).all()
        return [decode_run(self._codec, bytes(body)) for body in stored]

    async def compare_and_set(self, record: RunRecord, expected_version: int) -> RunRecord:
        """Store the record as the version after the expected one."""
        written = replace(record, version=expected_version + 1)
        table, row = self._table, self._row(record.run_id)
        async with self._storage.database.transaction() as session:
            values = await self._values(session, written)
            statement = update(table).where(row, table.c.version == expected_version, alive(table))
            changed = await session.execute(statement.values(**values).returning(table.c.run_id))
            if changed.first() is None:
                current = await session.scalar(select(table.c.version).where(row, alive(table)))
                raise RunConflictError(record.run_id, expected_version, current)
        return written

    async def delete(self, run_id: str, expected_version: int | None = None) -> bool:
        """Remove that version, or whatever is stored."""
        table, row = self._table, self._row(run_id)
        statement = delete(table).where(row)
        if expected_version is not None:
            statement = statement.where(table.c.version == expected_version)
        async with self._storage.database.transaction() as session:
            if (await session.execute(statement.returning(table.c.run_id))).first() is not None:
                return True
            current = await session.scalar(select(table.c.version).where(row))
            if current is not None:
                raise RunConflictError(run_id, expected_version, current)
            return False

    def _row(self, run_id: str) -> ColumnElement[bool]:
        return (self._table.c.prefix == self._prefix) & (self._table.c.run_id == check_identifier(run_id))

    async def _values(self, session: AsyncSession, record: RunRecord) -> dict[str, Any]:
        keep = self._retention.milliseconds if record.state.ended else 0
        expires = await database_now(session) + keep if keep else None
        return {"version": record.version, "body": encode_run(self._codec, record), "expires_at": expires}
