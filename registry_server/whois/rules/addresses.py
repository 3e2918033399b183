"""Which objects answer a question about an address block, an AS number or a name."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from enum import Enum
from itertools import chain

from registry_server.objects.rules.classes import fold
from registry_server.objects.rules.numbers import (
    PrefixRefused,
    pack,
    parse_asn,
    parse_prefix,
    parse_range,
    unpack,
)
from registry_server.objects.schemas import ROUTE_CLASSES, Prefix
from registry_server.snapshot.schemas.content import Snapshot
from registry_server.snapshot.schemas.prefixes import PrefixIndex


class Reach(Enum):
    """Which blocks are meant, seen from the one in the question."""

    EXACT = "x"
    NEAREST = ""
    ONE_LESS = "l"
    ALL_LESS = "L"
    ONE_MORE = "m"
    ALL_MORE = "M"


def read_block(text: str) -> Prefix | None:
    """The block that a person means by `address/length`, by `first - last`, or by an address alone.

    None where it is no block, as a range whose ends are not those of one.
    """
    packed = pack(text)
    if packed:
        return parse_prefix(f"{text}/{len(packed[1]) * 8}")
    ends = parse_range(text)
    try:
        return _block_between(*ends) if ends else parse_prefix(text)
    except PrefixRefused:
        return None


def _block_between(first: bytes, last: bytes) -> Prefix | None:
    """The block from the first address to the last. Raises PrefixRefused."""
    bits = len(first) * 8
    hosts = (int.from_bytes(first) ^ int.from_bytes(last)).bit_length()
    block = parse_prefix(f"{unpack(first)}/{bits - hosts}")
    return block if block.last == last else None


def filed(index: PrefixIndex, block: Prefix, reach: Reach) -> Iterable[int]:
    """The entries of one index that the question reaches."""
    if reach is Reach.EXACT:
        return index.exact(block)
    if reach is Reach.NEAREST:
        return next(index.covering(block, itself=True), [])
    if reach is Reach.ONE_LESS:
        return next(index.covering(block, itself=False), [])
    if reach is Reach.ALL_LESS:
        return chain.from_iterable(index.covering(block, itself=True))
    inside = chain.from_iterable(index.inside(block))
    return inside if reach is Reach.ALL_MORE else index.first_inside(block)


def about_number(snapshot: Snapshot, number: int) -> Iterator[int]:
    """The object of an AS number, then the blocks that it lies in, the smallest first."""
    if number in snapshot.by_asn:
        yield snapshot.by_asn[number]
    around = [block for block in snapshot.blocks if block.first <= number <= block.last]
    for block in sorted(around, key=lambda each: each.last - each.first):
        yield block.entry


def of_origin(snapshot: Snapshot, key: str, *classes: str) -> Iterator[int]:
    """Routes by prefix and origin, written together as RPSL's keys of routes are, and folded."""
    prefix, found, number = key.rpartition("as")
    origin = parse_asn(f"as{number}") if found else None
    for place in snapshot.by_key.get(prefix.rstrip("-"), ()) if origin is not None else ():
        if snapshot.entries[place].object_class in classes and origin in snapshot.origins_of.get(place, ()):
            yield place


def about_text(snapshot: Snapshot, text: str) -> Iterable[int]:
    """The objects that a question without a flag is about."""
    number = parse_asn(text)
    if number is not None:
        return about_number(snapshot, number)
    block = read_block(text)
    if block is not None:
        return chain(
            filed(snapshot.networks, block, Reach.NEAREST), filed(snapshot.routes, block, Reach.NEAREST)
        )
    wanted, key = text.lower(), fold(text)
    routes = of_origin(snapshot, key, *ROUTE_CLASSES.values())
    named = (place for name, place in snapshot.names if wanted in name)
    return dict.fromkeys(chain(snapshot.by_key.get(key, ()), routes, named))
