"""What follows from the names of an object's lines alone: decided once, and remembered for that shape."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from operator import itemgetter
from types import MappingProxyType

from registry_server.objects.rules.classes import CLASSES, ObjectClass
from registry_server.objects.rules.grammar import name_in
from registry_server.objects.rules.search import is_searched, title_of

#: The classes that each attribute may name, as they are stored.
TARGETS = MappingProxyType(
    {
        name: {attribute: " ".join(targets) for attribute, targets in of_class.references.items()}
        for name, of_class in CLASSES.items()
    }
)


Pick = Callable[[Sequence[str]], Sequence[str]]


@dataclass(frozen=True, slots=True)
class Shape:
    """Where in an object's lines that stands which is derived from them; places count from 0."""

    key: int
    source: int
    max_length: int | None
    origins: tuple[int, ...]
    proofs: tuple[int, ...]
    #: Attribute, place and classes that it may name.
    references: tuple[tuple[str, int, str], ...]
    title: int | None
    #: Takes from the values those that name others, and those that the object is searched by.
    naming: Pick
    searching: Pick


@lru_cache(maxsize=4096)
def shape_of(object_class: str, heads: tuple[str, ...]) -> Shape | None:
    """The shape of an object whose lines begin so, or None where anything about that may be wrong."""
    names = [found for head in heads if (found := name_in(head))]
    of_class = CLASSES[object_class]
    if len(names) != len(heads) or not _is_shapely(of_class, names):
        return None
    title = title_of(object_class)
    targets = TARGETS[object_class]
    references = tuple((name, place, targets[name]) for place, name in enumerate(names) if name in targets)
    return Shape(
        key=names.index(of_class.key),
        source=names.index("source"),
        max_length=names.index("max-length") if "max-length" in names else None,
        origins=_places(names, "origin"),
        proofs=_places(names, "auth"),
        references=references,
        title=names.index(title) if title in names else None,
        naming=_picking([place for _, place, _ in references]),
        searching=_picking([place for place, name in enumerate(names) if is_searched(object_class, name)]),
    )


def _picking(places: Sequence[int]) -> Pick:
    """The values at the places: for two and more of them at once, in C."""
    if len(places) > 1:
        return itemgetter(*places)
    return lambda values: [values[place] for place in places]


def _places(names: list[str], wanted: str) -> tuple[int, ...]:
    return tuple(place for place, name in enumerate(names) if name == wanted)


def _is_shapely(of_class: ObjectClass, names: list[str]) -> bool:
    """The class comes first, what is required is there, what is single stands once."""
    if names[0] != of_class.name or not set(of_class.required) <= set(names):
        return False
    single = [name for name in names if name in of_class.single]
    return len(single) == len(set(single))
