"""Checkpoints in SQL: one row a run, replaced under its lock when the stored header matches."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import delete, func, select

from shared.durable import strict_json
from shared.durable.codecs import CHECKPOINT_SCHEMA, HEADER_LIMIT, CheckpointCodec, read_header
from shared.durable.config import Retention, SqlConfig
from shared.durable.errors import CheckpointConflictError, PayloadError
from shared.durable.keys import check_identifier
from shared.durable.records import CheckpointSummary
from shared.durable.sql_leases import check_lease
from shared.durable.sql_tables import alive, database_now, expired
from shared.durable.wire import from_milliseconds

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlalchemy import ColumnElement
    from sqlalchemy.ext.asyncio import AsyncSession

    from shared.durable.codecs import CheckpointCodecProtocol
    from shared.durable.records import LoopContext, QueueLease
    from shared.durable.sql_tables import SqlStorage


class SqlCheckpointStore:
    """Exact resumption, with the same refusals as on Redis."""

    def __init__(
        self,
        storage: SqlStorage,
        config: SqlConfig | None = None,
        codec: CheckpointCodecProtocol | None = None,
        *,
        retention: Retention | None = None,
    ) -> None:
        """Use the service's database, which stays the service's to close."""
        self._storage = storage
        self._table = storage.tables.checkpoints
        self._prefix = (config or SqlConfig()).prefix
        self._codec = codec or CheckpointCodec()
        self._retention = retention or Retention()

    async def save(
        self, context: LoopContext, expected_revision: int | None = None, *, lease: QueueLease | None = None
    ) -> int:
        """Store the context over the expected revision; see CheckpointStore."""
        expected = context.revision if expected_revision is None else expected_revision
        body = self._codec.encode(context, expected + 1)
        async with self._storage.database.transaction() as session:
            if lease is not None:
                await check_lease(session, self._storage, self._prefix, lease)
            await session.execute(delete(self._table).where(self._row(context.run_id), expired(self._table)))
            current = await self._revision(session, context.run_id)
            if (current or 0) != expected:
                raise CheckpointConflictError(context.run_id, expected, current)
            await self._write(session, context.run_id, body, expected)
        return expected + 1

    async def load(self, run_id: str) -> LoopContext | None:
        """Return the checkpoint, None when there is none."""
        query = select(self._table.c.body).where(self._row(check_identifier(run_id)), alive(self._table))
        async with self._storage.database.reading() as session:
            stored = await session.scalar(query)
        return None if stored is None else self._codec.decode(run_id, bytes(stored))

    async def delete(self, run_id: str, expected_revision: int | None = None) -> bool:
        """Remove that revision, or whatever is stored."""
        async with self._storage.database.transaction() as session:
            if expected_revision is not None:
                current = await self._revision(session, run_id)
                if current is None:
                    return False
                if current != expected_revision:
                    raise CheckpointConflictError(run_id, expected_revision, current)
            statement = delete(self._table).where(self._row(check_identifier(run_id)))
            return (await session.execute(statement.returning(self._table.c.run_id))).first() is not None

    async def list_recent(self, limit: int = 100, offset: int = 0) -> Sequence[CheckpointSummary]:
        """Return the latest saved first; empty where listing is off."""
        if not self._retention.listed:
            return []
        table = self._table
        query = select(table.c.run_id, table.c.updated_at).where(table.c.prefix == self._prefix, alive(table))
        query = query.order_by(table.c.updated_at.desc(), table.c.run_id.desc()).limit(limit).offset(offset)
        async with self._storage.database.reading() as session:
            rows = (await session.execute(query)).all()
        return [CheckpointSummary(run_id, from_milliseconds(at)) for run_id, at in rows]

    def _row(self, run_id: str) -> ColumnElement[bool]:
        return (self._table.c.prefix == self._prefix) & (self._table.c.run_id == run_id)

    async def _revision(self, session: AsyncSession, run_id: str) -> int | None:
        """The stored revision, from the header alone where it is intact; the row stays locked."""
        body = self._table.c.body
        query = select(func.substr(body, 1, HEADER_LIMIT), func.length(body)).where(self._row(run_id))
        row = (await session.execute(query.with_for_update())).first()
        if row is None:
            return None
        header = read_header(bytes(row[0]))
        if header is not None and header.size + header.body_bytes == row[1]:
            facts: tuple[object, object, object] = (header.schema, header.run_id, header.revision)
        else:
            facts = self._decoded(run_id, await session.scalar(select(body).where(self._row(run_id))))
        schema, found_run, revision = facts
        if schema != CHECKPOINT_SCHEMA:
            raise PayloadError(f"Checkpoint of run {run_id} has an unknown schema.")
        if found_run != run_id or type(revision) is not int:
            raise PayloadError(f"Checkpoint of run {run_id} is damaged.")
        return revision

    @staticmethod
    def _decoded(run_id: str, stored: bytes | None) -> tuple[object, object, object]:
        try:
            found = strict_json.parse(bytes(stored or b""))
        except ValueError as error:
            raise PayloadError(f"Checkpoint of run {run_id} is damaged.") from error
        if not isinstance(found, dict):
            raise PayloadError(f"Checkpoint of run {run_id} is damaged.")
        return found.get("schema"), found.get("run_id"), found.get("revision")

    async def _write(self, session: AsyncSession, run_id: str, body: bytes, expected: int) -> None:
        now = await database_now(session)
        keep = self._retention.milliseconds
        values = {"body": body, "updated_at": now, "expires_at": now + keep if keep else None}
        if expected:
            await session.execute(self._table.update().where(self._row(run_id)).values(**values))
            return
        insert = self._storage.insert(self._table).values(prefix=self._prefix, run_id=run_id, **values)
        added = await session.execute(insert.on_conflict_do_nothing().returning(self._table.c.run_id))
        if added.first() is None:
            raise CheckpointConflictError(run_id, 0, await self._revision(session, run_id))
