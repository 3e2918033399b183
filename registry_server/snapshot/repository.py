"""Reads everything for a snapshot in one transaction, in slices that leave room for others between them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sqlalchemy import Select, select
from sqlalchemy.ext.asyncio import AsyncSession

from registry_server.mirror.models import MirrorState
from registry_server.objects.models import FilterRow, ObjectRow, ReferenceRow, RouteRow
from registry_server.snapshot.schemas.content import Facts, Rows

_SLICE = 2000


@dataclass(frozen=True, slots=True)
class SnapshotRepository:
    """The index as one transaction shows it."""

    session: AsyncSession

    async def facts(self) -> Facts:
        """Where the mirror stands."""
        state = MirrorState
        row = await self.session.execute(
            select(state.version, state.commit, state.applied_at, state.checked_at)
        )
        return Facts(*row.one())

    async def rows(self) -> Rows:
        """All of it."""
        objects = select(
            ObjectRow.id,
            ObjectRow.object_class,
            ObjectRow.key,
            ObjectRow.folded,
            ObjectRow.raw,
            ObjectRow.asn,
            ObjectRow.indexed,
        )
        references = select(ReferenceRow.object_id, ReferenceRow.attribute, ReferenceRow.target)
        words: dict[str, str] = {}
        filters = await self.session.execute(select(FilterRow.path, FilterRow.raw))
        return Rows(
            facts=await self.facts(),
            objects=await self._all(objects.order_by(ObjectRow.path), words),
            references=await self._all(references.order_by(ReferenceRow.object_id), words),
            routes=await self._all(select(*RouteRow.__table__.columns), words),
            filters={row[0]: row[1] for row in filters},
        )

    async def _all(self, statement: Select[*tuple[Any, ...]], words: dict[str, str]) -> list[tuple[Any, ...]]:
        """Plain tuples, in which words that stand in many rows stand in memory once."""
        found: list[tuple[Any, ...]] = []
        streamed = await self.session.stream(statement.execution_options(yield_per=_SLICE))
        async for some in streamed.partitions():
            found += [
                tuple(words.setdefault(cell, cell) if type(cell) is str else cell for cell in row)
                for row in some
            ]
        return found
