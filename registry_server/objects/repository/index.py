"""Writes the index: a sync replaces the rows of the files that it touched."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

from sqlalchemy import ColumnElement, delete, exists, func, literal, not_, select, update
from sqlalchemy.ext.asyncio import AsyncSession

from registry_server.objects.models import (
    FilterRow,
    NetworkRow,
    ObjectRow,
    ProblemRow,
    ReferenceRow,
    RouteRow,
    TextRow,
)
from registry_server.objects.schemas import IndexCounts, IndexRows, ProblemCode
from registry_server.tables import insert_rows

#: Bound parameters of one statement: the smallest limit of either database is far above.
_CHUNK = 500
_TABLES = (ObjectRow, ReferenceRow, RouteRow, NetworkRow, TextRow, ProblemRow, FilterRow)
_DERIVED = (ReferenceRow, RouteRow, NetworkRow, TextRow)
Item = TypeVar("Item")


@dataclass(frozen=True, slots=True)
class IndexRepository:
    """The index inside one transaction."""

    session: AsyncSession

    async def next_id(self) -> int:
        """The number of the next new object."""
        highest = await self.session.scalar(select(func.max(ObjectRow.id)))
        return (highest or 0) + 1

    async def clear(self) -> None:
        """Remove everything."""
        for model in _TABLES:
            await self.session.execute(delete(model))

    async def remove(self, paths: Sequence[str]) -> set[str]:
        """Remove what was stored for the paths; the folded keys that went with them."""
        gone: set[str] = set()
        for some in _chunks(paths):
            found = await self.session.execute(
                select(ObjectRow.id, ObjectRow.folded).where(ObjectRow.path.in_(some))
            )
            rows = found.all()
            gone.update(row.folded for row in rows)
            idents = [row.id for row in rows]
            for model in _DERIVED:
                await self.session.execute(delete(model).where(model.object_id.in_(idents)))
            await self.session.execute(delete(ObjectRow).where(ObjectRow.id.in_(idents)))
            for beside in (ProblemRow, FilterRow):
                await self.session.execute(delete(beside).where(beside.path.in_(some)))
        return gone

    async def insert(self, rows: IndexRows) -> None:
        """Store the rows."""
        await insert_rows(self.session, ObjectRow, rows.objects)
        await insert_rows(self.session, ReferenceRow, rows.references)
        await insert_rows(self.session, RouteRow, rows.routes)
        await insert_rows(self.session, NetworkRow, rows.networks)
        await insert_rows(self.session, TextRow, rows.texts)
        await insert_rows(self.session, ProblemRow, rows.problems)
        await insert_rows(self.session, FilterRow, rows.filters)

    async def mark_dangling(self) -> None:
        """Mark the references that name no object, after everything was stored anew."""
        await self._mark(literal(value=True))

    async def mark_dangling_among(self, folded: Sequence[str], first_id: int) -> None:
        """Mark again the references that name one of the keys, and those of objects from `first_id` on."""
        await self._mark(ReferenceRow.object_id >= first_id)
        for some in _chunks(folded):
            await self._mark(ReferenceRow.target.in_(some))

    async def _mark(self, which: ColumnElement[bool]) -> None:
        answered = exists().where(
            ObjectRow.folded == ReferenceRow.target,
            (" " + ReferenceRow.classes + " ").like("% " + ObjectRow.object_class + " %"),
        )
        for value, condition in ((True, not_(answered)), (False, answered)):
            statement = update(ReferenceRow).where(which, ReferenceRow.dangling != value, condition)
            await self.session.execute(
                statement.values(dangling=value), execution_options={"synchronize_session": False}
            )

    async def counts(self) -> IndexCounts:
        """What the index holds now."""
        objects = await self.session.execute(
            select(ObjectRow.object_class, func.count()).group_by(ObjectRow.object_class)
        )
        routes = await self.session.execute(select(RouteRow.family, func.count()).group_by(RouteRow.family))
        problems = await self.session.execute(select(ProblemRow.code, func.count()).group_by(ProblemRow.code))
        dangling = await self.session.scalar(
            select(func.count()).select_from(ReferenceRow).where(ReferenceRow.dangling)
        )
        by_code = {row[0]: row[1] for row in problems}
        if dangling:
            by_code[ProblemCode.DANGLING_REFERENCE.value] = dangling
        names = {4: "route", 6: "route6"}
        return IndexCounts(
            objects={row[0]: row[1] for row in sorted(objects.all())},
            routes={names[row[0]]: row[1] for row in sorted(routes.all())},
            problems=dict(sorted(by_code.items())),
        )


def _chunks(items: Sequence[Item]) -> Iterator[Sequence[Item]]:
    return (items[start : start + _CHUNK] for start in range(0, len(items), _CHUNK))
