"""Retained contexts in SQL: a row that ages, and one a revision."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import delete, select, update

from shared.durable.codecs import PayloadCodec
from shared.durable.config import SqlConfig
from shared.durable.errors import ContextConflictError
from shared.durable.keys import check_identifier
from shared.durable.records import ContextAge, RetainedContext
from shared.durable.sql_tables import alive, database_now, expired
from shared.durable.wire import decode_context, encode_context

if TYPE_CHECKING:
    from sqlalchemy import ColumnElement, Table
    from sqlalchemy.ext.asyncio import AsyncSession

    from shared.durable.config import ContextRetentionPolicy
    from shared.durable.records import JsonObject
    from shared.durable.sql_tables import SqlStorage


class SqlContextStore:
    """Immutable revisions with a pointer to the latest; every one has an age."""

    def __init__(
        self,
        storage: SqlStorage,
        policy: ContextRetentionPolicy,
        config: SqlConfig | None = None,
        *,
        codec: PayloadCodec | None = None,
    ) -> None:
        """Use the service's database, which stays the service's to close."""
        self._storage = storage
        self._policy = policy
        self._contexts = storage.tables.contexts
        self._revisions = storage.tables.context_revisions
        self._prefix = (config or SqlConfig()).prefix
        self._codec = codec or PayloadCodec()

    async def append(self, run_id: str, content: JsonObject, expected_revision: int) -> int:
        """Store the next revision over the expected latest one."""
        revision = expected_revision + 1
        body = encode_context(self._codec, RetainedContext(run_id, revision, content))
        contexts = self._contexts
        async with self._storage.database.transaction() as session:
            await self._forget(session, run_id, only_expired=True)
            row = self._storage.insert(contexts).values(prefix=self._prefix, run_id=run_id, latest=0)
            await session.execute(row.on_conflict_do_nothing())
            expires = await database_now(session) + self._policy.seconds(ContextAge.WORKING) * 1000
            statement = update(contexts).where(
                self._of(contexts, run_id), contexts.c.latest == expected_revision
            )
            changed = statement.values(latest=revision, expires_at=expires).returning(contexts.c.latest)
            if (await session.execute(changed)).first() is None:
                found = await session.scalar(select(contexts.c.latest).where(self._of(contexts, run_id)))
                raise ContextConflictError.of(run_id, expected_revision, found or 0)
            await session.execute(
                self._revisions.insert().values(
                    prefix=self._prefix, run_id=run_id, revision=revision, body=body
                )
            )
        return revision

    async def load(self, run_id: str, revision: int | None = None) -> RetainedContext | None:
        """Return that revision, by default the latest."""
        contexts, revisions = self._contexts, self._revisions
        wanted = contexts.c.latest if revision is None else revision
        query = select(revisions.c.body).join(
            contexts, (contexts.c.prefix == revisions.c.prefix) & (contexts.c.run_id == revisions.c.run_id)
        )
        query = query.where(self._of(contexts, run_id), alive(contexts), revisions.c.revision == wanted)
        async with self._storage.database.reading() as session:
            stored = await session.scalar(query)
        return None if stored is None else decode_context(self._codec, bytes(stored))

    async def settle(self, run_id: str, age: ContextAge) -> bool:
        """Let the retention of that age count from now."""
        contexts = self._contexts
        async with self._storage.database.transaction() as session:
            expires = await database_now(session) + self._policy.seconds(age) * 1000
            statement = update(contexts).where(self._of(contexts, run_id), alive(contexts))
            changed = statement.values(expires_at=expires).returning(contexts.c.latest)
            return (await session.execute(changed)).first() is not None

    async def delete(self, run_id: str) -> bool:
        """Remove every revision."""
        async with self._storage.database.transaction() as session:
            return await self._forget(session, run_id)

    def _of(self, table: Table, run_id: str) -> ColumnElement[bool]:
        return (table.c.prefix == self._prefix) & (table.c.run_id == check_identifier(run_id))

    async def _forget(self, session: AsyncSession, run_id: str, *, only_expired: bool = False) -> bool:
        contexts = self._contexts
        statement = delete(contexts).where(self._of(contexts, run_id))
        if only_expired:
            statement = statement.where(expired(contexts))
        if (await session.execute(statement.returning(contexts.c.latest))).first() is None:
            return False
        await session.execute(delete(self._revisions).where(self._of(self._revisions, run_id)))
        return True
