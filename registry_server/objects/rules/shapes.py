"""What follows from the names of an object's lines alone: decided once, and remembered for that shape."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
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
    searched: tuple[int, ...]


@lru_cache(maxsize=4096)
def shape_of(object_class: str, heads: tuple[str, ...]) -> Shape | None:
    """The shape of an object whose lines begin so, or None where anything about that may be wrong."""
    names = [found for head in heads if (found := name_in(head))]
    of_class = CLASSES[object_class]
    if len(names) != len(heads) or not _is_shapely(of_class, names):
        return None
    title = title_of(object_class)
    targets = TARGETS[object_class]
    return Shape(
        key=names.index(of_class.key),
        source=names.index("source"),
        max_length=names.index("max-length") if "max-length" in names else None,
        origins=_places(names, "origin"),
        proofs=_places(names, "auth"),
        references=tuple((name, place, targets[name]) for place, name in enumerate(names) if name in targets),
        title=names.index(title) if title in names else None,
        searched=tuple(place for place, name in enumerate(names) if is_searched(object_class, name)),
    )


def _places(names: list[str], wanted: str) -> tuple[int, ...]:
    return tuple(place for place, name in enumerate(names) if name == wanted)


def _is_shapely(of_class: ObjectClass, names: list[str]) -> bool:
    """The class comes first, what is required is there, what is single stands once."""
    if names[0] != of_class.name or not set(of_class.required) <= set(names):
        return False
    single = [name for name in names if name in of_class.single]
    return len(single) == len(set(single))
