"""The short road for an object that nothing at all is wrong with, as nearly all are.

It decides nothing that `reading` does not decide alike: where it has any doubt it gives the object back, and
`reading` says what is wrong. It costs a third, which is what a first load of a large registry takes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

from registry_server.objects.rules import auth
from registry_server.objects.rules.classes import (
    CLASSES,
    LONGEST_KEY,
    SOURCES,
    ObjectClass,
    family_of,
    file_name_of,
)
from registry_server.objects.rules.grammar import well_written
from registry_server.objects.rules.numbers import PrefixRefused, parse_asn, parse_prefix, parse_range
from registry_server.objects.rules.references import read_references
from registry_server.objects.rules.routes import read_max_length, read_origins
from registry_server.objects.schemas import Attribute, ObjectPath, Prefix, Problem, Reference, Route

Lines = list[tuple[str, str]]
First = Mapping[str, str]


class Numbers(NamedTuple):
    """What an object says of AS numbers and addresses."""

    asn: int | None = None
    network: Prefix | None = None
    routes: tuple[Route, ...] = ()


class PlainObject(NamedTuple):
    """What one file says that is as it should be."""

    object_class: str
    key: str
    lines: Lines
    references: tuple[Reference, ...]
    asn: int | None
    network: Prefix | None
    routes: tuple[Route, ...]


_REQUIRED = {name: frozenset(of_class.required) for name, of_class in CLASSES.items()}
_NOTHING = Numbers()


def read_plain(place: ObjectPath, raw: bytes) -> PlainObject | None:
    """What the file says, or None where anything about it may be wrong."""
    lines = well_written(raw)
    if lines is None:
        return None
    of_class = CLASSES[place.object_class]
    first = dict(reversed(lines))
    if not _is_shapely(of_class, lines, first) or first["source"] not in SOURCES:
        return None
    key = first[of_class.key]
    if file_name_of(key) != place.file_name or "#" in key or len(key) > LONGEST_KEY:
        return None
    numbers = _NUMBERS.get(of_class.name, _no_numbers)(of_class, lines, first)
    if numbers is None:
        return None
    references = _references(of_class, lines)
    return None if references is None else PlainObject(of_class.name, key, lines, references, *numbers)


def _is_shapely(of_class: ObjectClass, lines: Lines, first: First) -> bool:
    """The class comes first, what is required is there, what is single stands once."""
    if lines[0][0] != of_class.name or not _REQUIRED[of_class.name] <= first.keys():
        return False
    if len(lines) == len(first):
        return True
    single = of_class.single
    return sum(name in single for name, _ in lines) == len(single & first.keys())


def _references(of_class: ObjectClass, lines: Lines) -> tuple[Reference, ...] | None:
    kinds = of_class.references
    named = [
        Attribute(name, value, number) for number, (name, value) in enumerate(lines, start=1) if name in kinds
    ]
    problems: list[Problem] = []
    found = read_references(named, kinds, problems)
    return None if problems else found


def _no_numbers(of_class: ObjectClass, lines: Lines, first: First) -> Numbers | None:
    del of_class, lines, first
    return _NOTHING


def _aut_num(of_class: ObjectClass, lines: Lines, first: First) -> Numbers | None:
    del lines
    asn = parse_asn(first[of_class.key])
    return None if asn is None else Numbers(asn=asn)


def _network(of_class: ObjectClass, lines: Lines, first: First) -> Numbers | None:
    del lines
    block = _prefix(of_class, first)
    if block is None or parse_range(first[of_class.name]) != (block.first, block.last):
        return None
    return Numbers(network=block)


def _route(of_class: ObjectClass, lines: Lines, first: First) -> Numbers | None:
    block = _prefix(of_class, first)
    if block is None:
        return None
    problems: list[Problem] = []
    origins = read_origins([Attribute(*line, 1) for line in lines if line[0] == "origin"], problems)
    written = first.get("max-length")
    most = None if written is None else read_max_length(Attribute("max-length", written, 1), block, problems)
    return None if problems else Numbers(routes=tuple(Route(block, origin, most) for origin in origins))


def _mntner(of_class: ObjectClass, lines: Lines, first: First) -> Numbers | None:
    del of_class, first
    for name, value in lines:
        if name == "auth" and (auth.is_commented_out(value) or auth.parse_auth(value).method == auth.UNKNOWN):
            return None
    return _NOTHING


def _prefix(of_class: ObjectClass, first: First) -> Prefix | None:
    """The block of the key, if it is written as it should be."""
    text = first[of_class.key]
    try:
        block = parse_prefix(text)
    except PrefixRefused:
        return None
    return block if block.text == text and block.family == family_of(of_class.name) else None


_NUMBERS: Mapping[str, Callable[[ObjectClass, Lines, First], Numbers | None]] = {
    "aut-num": _aut_num,
    "inetnum": _network,
    "inet6num": _network,
    "route": _route,
    "route6": _route,
    "mntner": _mntner,
}
