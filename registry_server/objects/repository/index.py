"""Writes the index: a sync replaces the rows of the files that it touched."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from sqlalchemy import Dialect, Index, delete, func, select
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.schema import CreateIndex, DDLElement, DropIndex

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
from registry_server.tables import Ask, Part, Work, carry_out, insert_rows
from shared.database.migrations import ONLY_ON

#: So few files are stored with what goes with them in one go; more are copied table by table.
_FEW = 200
_NETWORK_CLASSES = frozenset({"inetnum", "inet6num"})
_FILTERS = frozenset(path.decode() for path in FILTERS)
#: Of a hundred: PostgreSQL then reads 3,000 rows of a table, not 30,000.
_ROUGHLY = 10
_DANGLING = ProblemCode.DANGLING_REFERENCE.value


@dataclass(frozen=True, slots=True)
class IndexRepository:
    """The index inside one transaction."""

    session: AsyncSession

    async def next_id(self) -> int:
        """The number of the next new object."""
        return await carry_out(self.session, lambda dialect: _next_id(changes_on(dialect)))

    async def clear(self) -> None:
        """Remove everything, and until `complete` store without indexes where that hinders no reader.

        SQLite builds them faster at once. PostgreSQL would keep every reader out meanwhile.
        """
        for table in statements.TABLES:
            await self.session.execute(delete(table))
        await carry_out(self.session, partial(_each, DropIndex))

    async def complete(self) -> None:
        """Build what `clear` took away, and tell PostgreSQL what has come.

        Until it looks by itself, it plans for empty tables. A rough look does until then.
        """
        await carry_out(self.session, partial(_each, CreateIndex))
        await carry_out(self.session, _look)

    async def remove(self, paths: Sequence[str], tally: Tally) -> set[tuple[str, str]]:
        """Remove what was stored for the paths, and take it off the tally; the keys and classes that went."""
        return await carry_out(self.session, lambda dialect: _remove(changes_on(dialect), paths, tally))

    async def insert(self, rows: IndexRows) -> None:
        """Store the rows."""
        if rows.count <= _FEW:
            await carry_out(self.session, lambda dialect: _insert(changes_on(dialect), rows))
            return
        await insert_rows(self.session, _parts(rows))

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


def _on_sqlite() -> Sequence[Index]:
    indexes = [each for table in statements.TABLES for each in table.indexes if ONLY_ON not in each.info]
    return sorted(indexes, key=lambda each: str(each.name))


def _each(of: Callable[[Index], DDLElement], dialect: Dialect) -> Work[None]:
    """Drop or create each index, on SQLite."""
    if dialect.name == "sqlite":
        for index in _on_sqlite():
            yield Ask(str(of(index).compile(dialect=dialect)))


def _look(dialect: Dialect) -> Work[None]:
    if dialect.name == "postgresql":
        names = ", ".join(table.name for table in statements.TABLES)
        yield Ask(f"SET LOCAL default_statistics_target = {_ROUGHLY}")
        yield Ask(f"ANALYZE {names}")
        yield Ask("RESET default_statistics_target")


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


def _parts(rows: IndexRows) -> list[Part]:
    """In the order of the tables."""
    return [
        Part(ObjectRow, rows.objects),
        Part(ObjectRow, rows.plain, {"indexed": True, "asn": None}),
        Part(ReferenceRow, rows.references, {"dangling": False}),
        Part(RouteRow, rows.routes),
        Part(NetworkRow, rows.networks),
        Part(TextRow, rows.texts),
        Part(ProblemRow, rows.problems),
        Part(FilterRow, rows.filters),
    ]


def _insert(changes: Changes, rows: IndexRows) -> Work[None]:
    for part in _parts(rows):
        if part.values:
            yield changes.insertions[part.model].ask_each([*part.rows()])


def _mark_among(changes: Changes, folded: Sequence[str], first_id: int, tally: Tally) -> Work[None]:
    marked = yield changes.mark_among.ask({"first_id": first_id, "keys": folded})
    tally.problems[_DANGLING] += sum(1 if row[0] else -1 for row in marked)
