"""What is stored for registry files, and how much of it there is."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import chain
from typing import Any


def rows_of(values: Iterable[Any], width: int) -> Iterator[tuple[Any, ...]]:
    """The rows of so many columns whose values follow each other."""
    each = iter(values)
    return zip(*[each] * width, strict=True)


@dataclass(slots=True)
class IndexRows:
    """What is stored for some files: for each table the values of its rows, in the order of its columns.

    They stand one after the other, without a row of their own: there are a million in a large registry.
    """

    #: How many objects these are.
    count: int = 0
    objects: list[Any] = field(default_factory=list)
    #: Objects that nothing is wrong with and that are no AS: without the last two columns.
    plain: list[Any] = field(default_factory=list)
    #: All but the last column: whether a reference leads nowhere is known when all are stored.
    references: list[Any] = field(default_factory=list)
    routes: list[Any] = field(default_factory=list)
    networks: list[Any] = field(default_factory=list)
    texts: list[Any] = field(default_factory=list)
    problems: list[Any] = field(default_factory=list)
    #: Files that are no objects and say which ROAs there may be, byte for byte.
    filters: list[Any] = field(default_factory=list)

    def classed(self) -> Iterator[tuple[str, str]]:
        """Class and folded key of each object."""
        classes = chain(self.objects[2::_OBJECT], self.plain[2::_PLAIN])
        return zip(classes, chain(self.objects[4::_OBJECT], self.plain[4::_PLAIN]), strict=True)

    def each_object(self) -> Iterator[tuple[Any, ...]]:
        """The rows of objects, not in the order of the files."""
        return chain(
            rows_of(self.objects, _OBJECT), ((*row, True, None) for row in rows_of(self.plain, _PLAIN))
        )

    def named(self) -> Iterator[tuple[str, str]]:
        """Of each reference, the classes that it may be of and what it names."""
        return zip(self.references[6::_REFERENCE], self.references[3::_REFERENCE], strict=True)

    def each_reference(self) -> Iterator[tuple[Any, ...]]:
        """The rows of references."""
        return rows_of(self.references, _REFERENCE)

    def each_route(self) -> Iterator[tuple[Any, ...]]:
        """The rows of routes."""
        return rows_of(self.routes, _ROUTE)

    def each_problem(self) -> Iterator[tuple[Any, ...]]:
        """The rows of problems."""
        return rows_of(self.problems, _PROBLEM)

    def add_to(self, tally: Tally) -> None:
        """Count what is stored."""
        tally.objects.update(self.objects[2::_OBJECT] + self.plain[2::_PLAIN])
        tally.routes.update(ROUTE_CLASSES[family] for family in self.routes[2::_ROUTE])
        tally.problems.update(self.problems[2::_PROBLEM])


#: Values of one row.
_OBJECT, _PLAIN, _REFERENCE, _ROUTE, _PROBLEM = 9, 7, 7, 8, 6
#: The class of route objects of each address family.
ROUTE_CLASSES = {4: "route", 6: "route6"}


@dataclass(frozen=True, slots=True)
class IndexCounts:
    """How much the index holds: by class, by class of the route object, by code."""

    objects: dict[str, int] = field(default_factory=dict)
    routes: dict[str, int] = field(default_factory=dict)
    problems: dict[str, int] = field(default_factory=dict)

    @property
    def total_objects(self) -> int:
        """All objects, broken ones included."""
        return sum(self.objects.values())

    @property
    def total_routes(self) -> int:
        """All pairs of prefix and origin."""
        return sum(self.routes.values())


@dataclass(frozen=True, slots=True)
class Tally:
    """Counts while they change: a sync of a few files counts those alone, not the whole index."""

    objects: Counter[str]
    routes: Counter[str]
    problems: Counter[str]

    @classmethod
    def of(cls, counts: IndexCounts) -> Tally:
        """Start from these counts."""
        return cls(Counter(counts.objects), Counter(counts.routes), Counter(counts.problems))

    def counts(self) -> IndexCounts:
        """What there is now, without those of which there is none."""
        parts = [
            dict(sorted((name, number) for name, number in part.items() if number))
            for part in (self.objects, self.routes, self.problems)
        ]
        return IndexCounts(objects=parts[0], routes=parts[1], problems=parts[2])
