"""SQL of generations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Table, Text, bindparam, cast, insert, select, text, tuple_
from sqlalchemy.ext.asyncio import AsyncSession

from control_server.desired_state.models import Generation
from shared.database import SpelledJson, forget_after_commit

#: Names the one lock of PostgreSQL under which facts are written; any number that nobody else takes.
_FACTS_LOCK = 7_164_901

assert isinstance(Generation.__table__, Table)  # noqa: S101 - for the type checker
_INSERT = insert(Generation.__table__).values(
    state=bindparam("state", type_=SpelledJson()), facts=bindparam("facts", type_=SpelledJson())
)


@dataclass(frozen=True, slots=True)
class GenerationRepository:
    """Generations in one session."""

    session: AsyncSession

    async def hold_facts(self) -> None:
        """Write facts alone until the end of the transaction: a state follows from facts of many rows.

        SQLite has one writer anyway.
        """
        if self.session.get_bind().dialect.name == "postgresql":
            await self.session.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": _FACTS_LOCK})

    async def find(self, node_id: str, number: int) -> Generation | None:
        """One generation."""
        return await self.session.get(Generation, (node_id, number))

    async def find_digests(self, newest: Mapping[str, int]) -> Mapping[str, str]:
        """Digests by node of those generations, without their states."""
        if not newest:
            return {}
        named = tuple_(Generation.node_id, Generation.number).in_(list(newest.items()))
        wanted = select(Generation.node_id, Generation.sha256).where(named)
        return dict(iter(await self.session.execute(wanted)))

    async def find_states(self, newest: Mapping[str, int]) -> Mapping[str, str]:
        """States by node of those generations, as JSON."""
        if not newest:
            return {}
        named = tuple_(Generation.node_id, Generation.number).in_(list(newest.items()))
        wanted = select(Generation.node_id, cast(Generation.state, Text)).where(named)
        return dict(iter(await self.session.execute(wanted)))

    async def list(self, node_id: str, before: int | None, limit: int) -> Sequence[Generation]:
        """Generations of a node, newest first, below a number."""
        wanted = select(Generation).where(Generation.node_id == node_id)
        if before is not None:
            wanted = wanted.where(Generation.number < before)
        return (await self.session.scalars(wanted.order_by(Generation.number.desc()).limit(limit))).all()

    async def add_all(self, rows: Sequence[Mapping[str, Any]]) -> None:
        """Store new generations, each by the names of its columns; `state` and `facts` are JSON texts."""
        if rows:
            await self.session.execute(_INSERT, list(rows))

    async def undo(self) -> None:
        """Forget everything that this session was to write, and what was to follow its commit."""
        await self.session.rollback()
        forget_after_commit(self.session)
