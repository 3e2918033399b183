"""The short road for an object that nothing at all is wrong with, as nearly all are.

It decides nothing that `reading` does not decide alike: where it has any doubt it gives the object back, and
`reading` says what is wrong. It costs a fifth, which is what a first load of a large registry takes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from registry_server.objects.rules import auth
from registry_server.objects.rules.classes import LONGEST_KEY, SOURCES, family_of, file_name_of
from registry_server.objects.rules.grammar import split_columns
from registry_server.objects.rules.numbers import PrefixRefused, is_range_of, parse_asn, parse_prefix
from registry_server.objects.rules.references import Named, named_in
from registry_server.objects.rules.routes import read_length
from registry_server.objects.rules.shapes import Shape, shape_of
from registry_server.objects.schemas import Prefix

Values = Sequence[str]


#: What an object says of AS numbers and addresses: its own number, its block, and routes with their prefix,
#: origin and longest length.
Numbers = tuple[int | None, Prefix | None, Sequence[tuple[Prefix, int, int | None]]]
#: What one file says that is as it should be: key, shape, values, numbers, and what each of the shape's
#: references names. No class of its own: it is taken apart at once, twenty thousand times.
PlainObject = tuple[str, Shape, Values, Numbers, Sequence[Named]]
_NOTHING: Numbers = (None, None, ())


def read_plain(object_class: str, file_name: str, raw: bytes) -> PlainObject | None:
    """What the file says, or None where anything about it may be wrong."""
    columns = split_columns(raw)
    shape = shape_of(object_class, columns[0]) if columns else None
    if columns is None or shape is None:
        return None
    values = columns[1]
    if values[shape.source] not in SOURCES:
        return None
    key = values[shape.key]
    # A name that is the key itself holds nothing that a file's name has otherwise.
    if (key != file_name and file_name_of(key) != file_name) or "#" in key or len(key) > LONGEST_KEY:
        return None
    read = _NUMBERS.get(object_class)
    numbers = read(object_class, shape, values) if read else _NOTHING
    named = [*map(named_in, shape.naming(values))]
    if numbers is None or None in named:
        return None
    return key, shape, values, numbers, named  # type: ignore[return-value]


def _aut_num(object_class: str, shape: Shape, values: Values) -> Numbers | None:
    del object_class
    asn = parse_asn(values[shape.key])
    return None if asn is None else (asn, None, ())


def _network(object_class: str, shape: Shape, values: Values) -> Numbers | None:
    block = _prefix(object_class, values[shape.key])
    if block is None or not is_range_of(values[0], block):
        return None
    return None, block, ()


def _route(object_class: str, shape: Shape, values: Values) -> Numbers | None:
    block = _prefix(object_class, values[shape.key])
    if block is None:
        return None
    origins = [parse_asn(values[where]) for where in shape.origins]
    if None in origins or (len(origins) > 1 and len(set(origins)) < len(origins)):
        return None
    most = None
    if shape.max_length is not None:
        most = read_length(values[shape.max_length])
        if most is None or not block.length <= most <= len(block.first) * 8:
            return None
    return None, None, [(block, origin, most) for origin in origins if origin is not None]


def _mntner(object_class: str, shape: Shape, values: Values) -> Numbers | None:
    del object_class
    for where in shape.proofs:
        value = values[where]
        if auth.is_commented_out(value) or auth.parse_auth(value).method == auth.UNKNOWN:
            return None
    return _NOTHING


def _prefix(object_class: str, text: str) -> Prefix | None:
    """The block of the key, if it is written as it should be."""
    try:
        block = parse_prefix(text)
    except PrefixRefused:
        return None
    return block if block.text == text and block.family == family_of(object_class) else None


_NUMBERS: Mapping[str, Callable[[str, Shape, Values], Numbers | None]] = {
    "aut-num": _aut_num,
    "inetnum": _network,
    "inet6num": _network,
    "route": _route,
    "route6": _route,
    "mntner": _mntner,
}
