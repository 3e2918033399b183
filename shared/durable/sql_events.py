"""Events in SQL: one row each, numbered without holes by the run's head row."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import delete, select, update

from shared.durable.codecs import CheckpointCodec, PayloadCodec
from shared.durable.config import Retention, SqlConfig
from shared.durable.cursors import dense_id, empty_page, page_of, split_id
from shared.durable.errors import EventConflictError
from shared.durable.keys import check_identifier
from shared.durable.records import EventPage, StoredEvent
from shared.durable.sql_tables import alive, database_now, expired
from shared.durable.wire import decode_event, encode_event

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlalchemy import ColumnElement, Table
    from sqlalchemy.ext.asyncio import AsyncSession

    from shared.durable.codecs import CheckpointCodecProtocol
    from shared.durable.records import LoopEvent
    from shared.durable.sql_tables import SqlStorage


class SqlEventPublisher:
    """Events in order, trimmed exactly at the configured number."""

    def __init__(
        self,
        storage: SqlStorage,
        config: SqlConfig | None = None,
        checkpoint_codec: CheckpointCodecProtocol | None = None,
        *,
        codec: PayloadCodec | None = None,
        retention: Retention | None = None,
    ) -> None:
        """Use the service's database, which stays the service's to close."""
        self._storage = storage
        self._events = storage.tables.events
        self._heads = storage.tables.event_heads
        self._config = config or SqlConfig()
        self._checkpoints = checkpoint_codec or CheckpointCodec()
        self._codec = codec or PayloadCodec()
        self._keep = (retention or Retention()).milliseconds

    async def publish(self, event: LoopEvent, *, sequence: int | None = None) -> str:
        """Append and answer the id; see EventPublisher."""
        body = encode_event(self._codec, self._checkpoints, event)
        async with self._storage.database.transaction() as session:
            last = await self._last(session, event.run_id)
            wanted = last + 1 if sequence is None else sequence
            if wanted <= last:
                return await self._already(session, event.run_id, wanted, body)
            await self._append(session, event.run_id, wanted, body)
        return dense_id(wanted)

    async def read(self, run_id: str, after: str | None = None, limit: int = 100) -> Sequence[StoredEvent]:
        """Return the events after the cursor."""
        era, position = split_id(after) if after else (0, 0)
        events = self._events
        kept = select(self._heads.c.last).where(self._of(self._heads, run_id), alive(self._heads)).exists()
        query = select(events.c.sequence, events.c.body).where(self._of(events, run_id), kept)
        query = query.where(events.c.sequence > position).order_by(events.c.sequence).limit(limit)
        if era:
            return []
        async with self._storage.database.reading() as session:
            rows = (await session.execute(query)).all()
        return [
            StoredEvent(dense_id(number), decode_event(self._codec, self._checkpoints, bytes(body)))
            for number, body in rows
        ]

    async def page(self, run_id: str, after: str | None = None, limit: int = 100) -> EventPage:
        """Like `read`, with what was trimmed before the first event."""
        events = tuple(await self.read(run_id, after, limit))
        if events:
            return page_of(events, after)
        query = select(self._heads.c.last).where(self._of(self._heads, run_id), alive(self._heads))
        async with self._storage.database.reading() as session:
            last = await session.scalar(query)
        return empty_page(after, None if last is None else dense_id(last))

    async def delete(self, run_id: str) -> bool:
        """Remove all events of the run."""
        async with self._storage.database.transaction() as session:
            await session.execute(delete(self._events).where(self._of(self._events, run_id)))
            head = delete(self._heads).where(self._of(self._heads, run_id)).returning(self._heads.c.last)
            return (await session.execute(head)).first() is not None

    def _of(self, table: Table, run_id: str) -> ColumnElement[bool]:
        return (table.c.prefix == self._config.prefix) & (table.c.run_id == check_identifier(run_id))

    async def _last(self, session: AsyncSession, run_id: str) -> int:
        """The last number given, its row locked so that the next one has no rival."""
        heads = self._heads
        gone = delete(heads).where(self._of(heads, run_id), expired(heads)).returning(heads.c.last)
        if (await session.execute(gone)).first() is not None:
            await session.execute(delete(self._events).where(self._of(self._events, run_id)))
        head = self._storage.insert(heads).values(prefix=self._config.prefix, run_id=run_id, last=0)
        await session.execute(head.on_conflict_do_nothing())
        query = select(heads.c.last).where(self._of(heads, run_id)).with_for_update()
        return int((await session.scalars(query)).one())

    async def _append(self, session: AsyncSession, run_id: str, number: int, body: bytes) -> None:
        events, heads = self._events, self._heads
        row = events.insert().values(prefix=self._config.prefix, run_id=run_id, sequence=number, body=body)
        await session.execute(row)
        expires = await database_now(session) + self._keep if self._keep else None
        await session.execute(
            update(heads).where(self._of(heads, run_id)).values(last=number, expires_at=expires)
        )
        oldest = number - self._config.event_max_length
        if oldest > 0:
            await session.execute(delete(events).where(self._of(events, run_id), events.c.sequence <= oldest))

    async def _already(self, session: AsyncSession, run_id: str, number: int, body: bytes) -> str:
        query = select(self._events.c.body).where(
            self._of(self._events, run_id), self._events.c.sequence == number
        )
        stored = await session.scalar(query)
        if stored is not None and bytes(stored) != body:
            raise EventConflictError
        return dense_id(number)
