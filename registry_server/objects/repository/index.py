"""Writes the index: a sync replaces the rows of the files that it touched."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from sqlalchemy import Connection, Index, delete, func, select
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
from registry_server.objects.repository.statements import Changes, changes_on
from registry_server.objects.rules.paths import FILTERS
from registry_server.objects.schemas import ROUTE_CLASSES, IndexCounts, IndexRows, ProblemCode, Tally
from registry_server.tables import Work, carry_out, insert_rows
from shared.database.migrations import ONLY_ON

#: So few files are stored with what goes with them in one go; more are copied table by table.
_FEW = 200
_NETWORK_CLASSES = frozenset({"inetnum", "inet6num"})
_FILTERS = frozenset(path.decode() for path in FILTERS)
_DANGLING = ProblemCode.DANGLING_REFERENCE.value


@dataclass(frozen=True, slots=True)
class IndexRepository:
    """The index inside one transaction."""

    session: AsyncSession

    async def next_id(self) -> int:
        """The number of the next new object."""
        return await carry_out(self.session, lambda dialect: _next_id(changes_on(dialect)))

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

    async def remove(self, paths: Sequence[str], tally: Tally) -> set[tuple[str, str]]:
        """Remove what was stored for the paths, and take it off the tally; the keys and classes that went."""
        return await carry_out(self.session, lambda dialect: _remove(changes_on(dialect), paths, tally))

    async def insert(self, rows: IndexRows) -> None:
        """Store the rows."""
        if len(rows.objects) + len(rows.problems) <= _FEW:
            await carry_out(self.session, lambda dialect: _insert(changes_on(dialect), rows))
            return
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

    async def mark_dangling_among(self, folded: Sequence[str], first_id: int, tally: Tally) -> None:
        """Mark again the references that name one of the keys, and those of objects from `first_id` on.

        The tally says how many lead nowhere before and afterwards.
        """
        await carry_out(
            self.session, lambda dialect: _mark_among(changes_on(dialect), folded, first_id, tally)
        )

    async def analyze(self) -> None:
        """Tell PostgreSQL what a load has put in: until it looks by itself, it plans for empty tables."""
        connection = await self.session.connection()
        if connection.dialect.name == "postgresql":
            names = ", ".join(table.name for table in statements.TABLES)
            await connection.exec_driver_sql(f"ANALYZE {names}")

    async def count_sound(self) -> dict[str, int]:
        """How many objects of each class there are without those that are served as text alone."""
        query = (
            select(ObjectRow.object_class, func.count())
            .where(ObjectRow.indexed)
            .group_by(ObjectRow.object_class)
        )
        return {row[0]: row[1] for row in await self.session.execute(query)}

    async def settle(self, tally: Tally) -> IndexCounts:
        """The tally as it stands, with the references that lead nowhere, which an index counts quickly."""
        dangling = await self.session.scalar(statements.COUNT_DANGLING)
        tally.problems[ProblemCode.DANGLING_REFERENCE.value] = dangling or 0
        return tally.counts()


def _next_id(changes: Changes) -> Work[int]:
    ((highest,),) = yield changes.highest_id.ask()
    return (highest or 0) + 1


def _remove(changes: Changes, paths: Sequence[str], tally: Tally) -> Work[set[tuple[str, str]]]:
    among = {"paths": paths}
    found = yield changes.remove_objects.ask(among)
    classes = Counter(object_class for _, _, object_class in found)
    tally.objects.subtract(classes)
    if found:
        yield from _remove_derived(changes, [row[0] for row in found], frozenset(classes), tally)
    tally.problems.subtract([row[0] for row in (yield changes.remove_problems.ask(among))])
    if not _FILTERS.isdisjoint(paths):
        yield changes.remove_filters.ask(among)
    return {(folded, object_class) for _, folded, object_class in found}


def _remove_derived(
    changes: Changes, idents: Sequence[int], classes: frozenset[str], tally: Tally
) -> Work[None]:
    """Only from the tables that objects of these classes are in."""
    among = {"idents": idents}
    gone = yield changes.remove_references.ask(among)
    tally.problems[_DANGLING] -= sum(bool(row[0]) for row in gone)
    yield changes.remove_texts.ask(among)
    if not classes.isdisjoint(_NETWORK_CLASSES):
        yield changes.remove_networks.ask(among)
    if not classes.isdisjoint(ROUTE_CLASSES.values()):
        families = yield changes.remove_routes.ask(among)
        tally.routes.subtract(ROUTE_CLASSES[row[0]] for row in families)


def _insert(changes: Changes, rows: IndexRows) -> Work[None]:
    parts = (
        *(rows.objects, rows.references, rows.routes, rows.networks),
        *(rows.texts, rows.problems, rows.filters),
    )
    for insertion, some in zip(changes.insertions, parts, strict=True):
        if some:
            yield insertion.ask_each(some)


def _mark_among(changes: Changes, folded: Sequence[str], first_id: int, tally: Tally) -> Work[None]:
    marked = yield changes.mark_among.ask({"first_id": first_id, "keys": folded})
    tally.problems[_DANGLING] += sum(1 if row[0] else -1 for row in marked)
