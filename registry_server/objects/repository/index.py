"""Writes the index: a sync replaces the rows of the files that it touched."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

from sqlalchemy import Connection, Index, delete
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
from registry_server.objects.repository import statements
from registry_server.objects.rules.paths import FILTERS
from registry_server.objects.schemas import ROUTE_CLASSES, IndexCounts, IndexRows, ProblemCode, Tally
from registry_server.tables import insert_rows
from shared.database.migrations import ONLY_ON

#: Bound parameters of one statement: the smallest limit of either database is far above.
_CHUNK = 500
_NETWORK_CLASSES = frozenset({"inetnum", "inet6num"})
_FILTERS = frozenset(path.decode() for path in FILTERS)
#: No object has so high a number.
_NONE = 1 << 62
Item = TypeVar("Item")


@dataclass(frozen=True, slots=True)
class IndexRepository:
    """The index inside one transaction."""

    session: AsyncSession

    async def next_id(self) -> int:
        """The number of the next new object."""
        highest = await self.session.scalar(statements.HIGHEST_ID)
        return (highest or 0) + 1

    async def clear(self) -> None:
        """Remove everything."""
        for table in statements.TABLES:
            await self.session.execute(delete(table))

    async def without_indexes(self) -> None:
        """Until `with_indexes` of the same transaction, store without them where that hinders no reader.

        SQLite builds them faster at once. PostgreSQL would keep every reader out meanwhile.
        """
        await self._each_index(lambda index, connection: index.drop(connection, checkfirst=True))

    async def with_indexes(self) -> None:
        """Build what `without_indexes` took away."""
        await self._each_index(lambda index, connection: index.create(connection))

    async def _each_index(self, act: Callable[[Index, Connection], None]) -> None:
        connection = await self.session.connection()
        if connection.dialect.name == "sqlite":
            indexes = [each for table in statements.TABLES for each in table.indexes]
            for index in sorted(indexes, key=lambda each: str(each.name)):
                if ONLY_ON not in index.info:
                    await connection.run_sync(partial(act, index))

    async def remove(self, paths: Sequence[str], tally: Tally) -> set[str]:
        """Remove what was stored for the paths, and take it off the tally; the folded keys that went."""
        gone: set[str] = set()
        for some in _chunks(paths):
            among = {"paths": some}
            found = (await self.session.execute(statements.REMOVE_OBJECTS, among)).all()
            gone.update(row.folded for row in found)
            classes = Counter(row.object_class for row in found)
            tally.objects.subtract(classes)
            if found:
                await self._remove_derived([row.id for row in found], frozenset(classes), tally)
            tally.problems.subtract(
                list(await self.session.scalars(statements.REMOVE_PROBLEMS, among)),
            )
            if not _FILTERS.isdisjoint(some):
                await self.session.execute(statements.REMOVE_FILTERS, among)
        return gone

    async def _remove_derived(self, idents: Sequence[int], classes: frozenset[str], tally: Tally) -> None:
        """Only from the tables that objects of these classes are in."""
        among = {"idents": idents}
        await self.session.execute(statements.REMOVE_REFERENCES, among)
        await self.session.execute(statements.REMOVE_TEXTS, among)
        if not classes.isdisjoint(_NETWORK_CLASSES):
            await self.session.execute(statements.REMOVE_NETWORKS, among)
        if not classes.isdisjoint(ROUTE_CLASSES.values()):
            families = await self.session.scalars(statements.REMOVE_ROUTES, among)
            tally.routes.subtract(ROUTE_CLASSES[family] for family in families)

    async def insert(self, rows: IndexRows) -> None:
        """Store the rows."""
        await insert_rows(self.session, ObjectRow, rows.objects)
        await insert_rows(self.session, ReferenceRow, rows.references)
        await insert_rows(self.session, RouteRow, rows.routes)
        await insert_rows(self.session, NetworkRow, rows.networks)
        await insert_rows(self.session, TextRow, rows.texts)
        await insert_rows(self.session, ProblemRow, rows.problems)
        await insert_rows(self.session, FilterRow, rows.filters)

    async def mark_dangling(self, named: Sequence[tuple[str, str]]) -> None:
        """Mark the references that name one of these keys with exactly these classes."""
        if named:
            values = [{"named": target, "of": classes} for target, classes in named]
            await self.session.execute(statements.MARK_DANGLING, values)

    async def mark_dangling_among(self, folded: Sequence[str], first_id: int) -> None:
        """Mark again the references that name one of the keys, and those of objects from `first_id` on."""
        for some in _chunks(folded) if folded else [()]:
            await self.session.execute(statements.MARK_AMONG, {"first_id": first_id, "keys": some})
            first_id = _NONE

    async def analyze(self) -> None:
        """Tell PostgreSQL what a load has put in: until it looks by itself, it plans for empty tables."""
        connection = await self.session.connection()
        if connection.dialect.name == "postgresql":
            names = ", ".join(table.name for table in statements.TABLES)
            await connection.exec_driver_sql(f"ANALYZE {names}")

    async def settle(self, tally: Tally) -> IndexCounts:
        """The tally as it stands, with the references that lead nowhere, which an index counts quickly."""
        dangling = await self.session.scalar(statements.COUNT_DANGLING)
        tally.problems[ProblemCode.DANGLING_REFERENCE.value] = dangling or 0
        return tally.counts()


def _chunks(items: Sequence[Item]) -> Iterator[Sequence[Item]]:
    return (items[start : start + _CHUNK] for start in range(0, len(items), _CHUNK))
