"""From the rows of one transaction to a snapshot."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from registry_server.objects.rules.classes import PREFIX_CLASSES, fold
from registry_server.objects.rules.grammar import parse, words
from registry_server.objects.rules.numbers import PrefixRefused, parse_prefix
from registry_server.objects.schemas import Prefix
from registry_server.snapshot.schemas.content import (
    Block,
    Entry,
    NamedSet,
    Origin,
    Originated,
    Rows,
    Snapshot,
)
from registry_server.snapshot.schemas.prefixes import PrefixIndex

_BLOCK = re.compile(r"AS([0-9]{1,10})\s*[-_]\s*AS([0-9]{1,10})", re.ASCII | re.IGNORECASE)
_NAME = re.compile(rb"^(?:person|role):[ \t]*(.*)$", re.IGNORECASE | re.MULTILINE)
_ROUTE_CLASSES = ("route", "route6")
_SET_CLASSES = ("as-set", "route-set")
_MEMBERSHIP = frozenset({"members", "mp-members", "mbrs-by-ref"})
_ANYBODY = "ANY"
_FAMILIES = (4, 6)
Inverse = Mapping[str, Mapping[str, Sequence[int]]]


def build(rows: Rows) -> Snapshot:
    """Build a snapshot; pure computation, to be done off the event loop."""
    numbers = {row[0]: place for place, row in enumerate(rows.objects)}
    entries = [Entry(*row[1:]) for row in rows.objects]
    by_key: dict[str, list[int]] = {}
    for place, entry in enumerate(entries):
        by_key.setdefault(entry.folded, []).append(place)
    blocks = list(_address_blocks(entries))
    origins = [_origin(row, numbers) for row in rows.routes]
    origins_of: dict[int, list[int]] = {}
    for origin in origins:
        origins_of.setdefault(origin.entry, []).append(origin.origin)
    inverse = _inverse(rows, numbers, origins_of)
    return Snapshot(
        facts=rows.facts,
        entries=entries,
        by_key={key: tuple(places) for key, places in by_key.items()},
        by_asn={
            entry.asn: place
            for place, entry in reversed(list(enumerate(entries)))
            if entry.indexed and entry.asn is not None and entry.object_class == "aut-num"
        },
        names=list(_names(entries)),
        blocks=list(_as_blocks(entries)),
        inverse=inverse,
        networks=PrefixIndex(each for each in blocks if entries[each[1]].object_class not in _ROUTE_CLASSES),
        routes=PrefixIndex(each for each in blocks if entries[each[1]].object_class in _ROUTE_CLASSES),
        origins=origins,
        origins_of=origins_of,
        originated={
            family: _originated([origin for origin in origins if origin.prefix.family == family])
            for family in _FAMILIES
        },
        sets=_sets(entries, inverse),
        filters=rows.filters,
    )


def framed(payload: str | bytes) -> bytes:
    """An answer in the form of IRRd's `A`: the length counts the payload and the line feed behind it."""
    text = payload.encode() if isinstance(payload, str) else payload
    return b"A%d\n%s\nC\n" % (len(text) + 1, text)


def _origin(row: Sequence[object], numbers: dict[int, int]) -> Origin:
    object_id, origin, family, first, last, length, text, max_length = row
    prefix = Prefix(family, first, last, length, text)  # type: ignore[arg-type]
    return Origin(prefix, origin, max_length, numbers[object_id])  # type: ignore[arg-type, index]


def _address_blocks(entries: Sequence[Entry]) -> Iterable[tuple[Prefix, int]]:
    for place, entry in enumerate(entries):
        if entry.indexed and entry.object_class in PREFIX_CLASSES:
            try:
                yield parse_prefix(entry.key), place
            except PrefixRefused:
                continue  # found by its key alone


def _names(entries: Sequence[Entry]) -> Iterable[tuple[str, int]]:
    for place, entry in enumerate(entries):
        if entry.indexed and entry.object_class in {"person", "role"} and (found := _NAME.search(entry.raw)):
            yield found[1].decode(errors="replace").strip().lower(), place


def _as_blocks(entries: Sequence[Entry]) -> Iterable[Block]:
    for place, entry in enumerate(entries):
        found = _BLOCK.fullmatch(entry.key) if entry.indexed and entry.object_class == "as-block" else None
        if found:
            yield Block(int(found[1]), int(found[2]), place)


def _inverse(
    rows: Rows, numbers: dict[int, int], origins_of: dict[int, list[int]]
) -> dict[str, dict[str, tuple[int, ...]]]:
    inverse: dict[str, dict[str, list[int]]] = {"origin": {}}
    for object_id, attribute, target in rows.references:
        named = inverse.setdefault(attribute, {}).setdefault(target, [])
        place = numbers[object_id]
        if not named or named[-1] != place:
            named.append(place)
    for place, originating in origins_of.items():
        for asn in originating:
            inverse["origin"].setdefault(f"as{asn}", []).append(place)
    return {
        attribute: {target: tuple(places) for target, places in named.items()}
        for attribute, named in inverse.items()
    }


def _originated(origins: Sequence[Origin]) -> Originated:
    """Each distinct prefix once, and for each AS the places of its own."""
    places: dict[str, int] = {}
    by_origin: dict[int, dict[int, None]] = {}
    for origin in sorted(origins, key=lambda each: (each.prefix.first, each.prefix.length)):
        place = places.setdefault(origin.prefix.text, len(places))
        by_origin.setdefault(origin.origin, {})[place] = None
    texts = list(places)
    return Originated(
        texts=texts,
        by_origin={asn: tuple(some) for asn, some in by_origin.items()},
        answers={asn: framed(" ".join(texts[place] for place in some)) for asn, some in by_origin.items()},
    )


def _sets(entries: Sequence[Entry], inverse: Inverse) -> dict[str, NamedSet]:
    sets: dict[str, NamedSet] = {}
    for entry in entries:
        if entry.object_class in _SET_CLASSES and entry.indexed and entry.folded not in sets:
            named: dict[str, list[str]] = {}
            for attribute in parse(entry.raw)[0]:
                if attribute.name in _MEMBERSHIP:
                    named.setdefault(attribute.name, []).extend(words(attribute.value.upper()))
            own = [*named.get("members", ()), *named.get("mp-members", ())]
            joined = _joined(entry, named.get("mbrs-by-ref", ()), entries, inverse)
            sets[entry.folded] = NamedSet(entry.object_class, tuple(dict.fromkeys([*own, *joined])))
    return sets


def _joined(
    of: Entry,
    maintainers: Sequence[str],
    entries: Sequence[Entry],
    inverse: Inverse,
) -> Iterable[str]:
    """Who named the set in `member-of` and is maintained by one whom the set admits (RFC 2622, section 5)."""
    if not maintainers:
        return
    admitted: set[int] | None = None
    if _ANYBODY not in maintainers:
        maintained = inverse.get("mnt-by", {})
        admitted = {place for name in maintainers for place in maintained.get(fold(name), ())}
    classes = ("aut-num",) if of.object_class == "as-set" else _ROUTE_CLASSES
    for place in inverse.get("member-of", {}).get(of.folded, ()):
        entry = entries[place]
        if entry.object_class in classes and (admitted is None or place in admitted):
            yield entry.key.upper() if of.object_class == "as-set" else entry.key
