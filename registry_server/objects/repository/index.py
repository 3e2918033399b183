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
from registry_server.objects.schemas import ROUTE_CLASSES, IndexCounts, IndexRows, ProblemCode, Tally
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

    async def remove(self, paths: Sequence[str], tally: Tally) -> set[str]:
        """Remove what was stored for the paths, and take it off the tally; the folded keys that went."""
        gone: set[str] = set()
        for some in _chunks(paths):
            found = await self.session.execute(
                select(ObjectRow.id, ObjectRow.folded, ObjectRow.object_class).where(ObjectRow.path.in_(some))
            )
            rows = found.all()
            gone.update(row.folded for row in rows)
            idents = [row.id for row in rows]
            routes = select(RouteRow.family).where(RouteRow.object_id.in_(idents))
            problems = select(ProblemRow.code).where(ProblemRow.path.in_(some))
            tally.objects.subtract(row.object_class for row in rows)
            tally.routes.subtract(ROUTE_CLASSES[family] for family in await self.session.scalars(routes))
            tally.problems.subtract((await self.session.scalars(problems)).all())
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

    async def analyze(self) -> None:
        """Tell PostgreSQL what a load has put in: until it looks by itself, it plans for empty tables."""
        connection = await self.session.connection()
        if connection.dialect.name == "postgresql":
            names = ", ".join(model.__tablename__ for model in _TABLES)
            await connection.exec_driver_sql(f"ANALYZE {names}")

    async def settle(self, tally: Tally) -> IndexCounts:
        """The tally as it stands, with the references that lead nowhere, which an index counts quickly."""
        dangling = await self.session.scalar(
            select(func.count()).select_from(ReferenceRow).where(ReferenceRow.dangling)
        )
        tally.problems[ProblemCode.DANGLING_REFERENCE.value] = dangling or 0
        return tally.counts()


def _chunks(items: Sequence[Item]) -> Iterator[Sequence[Item]]:
    return (items[start : start + _CHUNK] for start in range(0, len(items), _CHUNK))
