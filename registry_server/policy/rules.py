"""Whether a maintainer may make a change, judged by the registry as it stands before it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from registry_server.objects.rules.classes import fold
from registry_server.objects.rules.grammar import parse, quote, strip_comment, words
from registry_server.objects.rules.numbers import PrefixRefused, parse_asn, parse_prefix
from registry_server.policy.schemas import Change, Holder, Objection, PolicyCode
from registry_server.snapshot.schemas.content import Entry, Snapshot

_OPEN = "open"
_AS_BLOCK = re.compile(r"AS([0-9]{1,10})[-_]AS([0-9]{1,10})", re.ASCII | re.IGNORECASE)
#: What a new key of a class looks like, and how that is said.
_NAMES: Mapping[str, tuple[re.Pattern[str], str]] = {
    "organisation": (re.compile(r"ORG-.+"), "starts with ORG-"),
    "mntner": (re.compile(r".+-MNT"), "ends with -MNT"),
    "person": (re.compile(r".+-DN42"), "ends with -DN42"),
    "role": (re.compile(r".+-DN42"), "ends with -DN42"),
    "domain": (re.compile(r"[^.]+\.dn42"), "is one label under dn42"),
}


def judge(before: Snapshot, changes: Iterable[Change], maintainer: str | None) -> list[Objection]:
    """Everything that speaks against the changes; without a maintainer their names alone are looked at."""
    court = _Court(before, None if maintainer is None else fold(maintainer))
    return [objection for change in changes for objection in court.hear(change)]


def around(registry: Snapshot, object_class: str, key: str) -> list[Holder]:
    """Who has what such an object would take, the nearest first; nobody where such objects take nothing."""
    places = _HOLDERS[object_class](registry, key) if object_class in _HOLDERS else ()
    return [_holder(registry.entries[place]) for place in places]


def _holder(entry: Entry) -> Holder:
    policy = next(iter(_values(entry.raw, "policy")), "")
    return Holder(
        object_class=entry.object_class,
        key=entry.key,
        policy=strip_comment(policy).strip().lower(),
        maintained_by=_named(entry.raw, "mnt-by"),
        lower=_named(entry.raw, "mnt-lower"),
    )


@dataclass(frozen=True, slots=True)
class _Court:
    """Hears one maintainer's changes."""

    registry: Snapshot
    maintainer: str | None

    def hear(self, change: Change) -> Iterator[Objection]:
        if change.before is None:
            yield from _misnamed(change)
        if self.maintainer is None:
            return
        found = self._refused_owner(change) if change.before is not None else self._refused_new(change)
        if found is not None:
            yield Objection(change.path, *found)

    def _refused_owner(self, change: Change) -> tuple[PolicyCode, str] | None:
        """What is there belongs to those whom it names itself, as it stands before the change."""
        if self._is_among(_named(change.before or b"", "mnt-by")):
            return None
        return PolicyCode.NOT_YOURS, f"{change.key} is maintained by others"

    def _refused_new(self, change: Change) -> tuple[PolicyCode, str] | None:
        if change.object_class not in _HOLDERS:
            return None
        holders = around(self.registry, change.object_class, change.key)
        if not holders:
            return PolicyCode.OUTSIDE, f"nothing in the registry contains {change.key}"
        if change.object_class == "as-block":
            # A block is handed on by whoever has the one around it, and by nobody else.
            allowed = self._is_among(holders[0].maintained_by)
        else:
            allowed = holders[0].policy == _OPEN or any(
                self._is_among([*holder.maintained_by, *holder.lower]) for holder in holders
            )
        if allowed:
            return None
        return PolicyCode.NOT_OPEN, f"{holders[0].key} is not open, and maintained by others"

    def _is_among(self, names: Iterable[str]) -> bool:
        return self.maintainer in {fold(name) for name in names}


def _misnamed(change: Change) -> Iterator[Objection]:
    rule = _NAMES.get(change.object_class)
    if rule and not rule[0].fullmatch(change.key):
        yield Objection(
            change.path,
            PolicyCode.NAME,
            f"the key of a new {change.object_class} {rule[1]}: {quote(change.key)}",
        )


def _values(raw: bytes, name: str) -> list[str]:
    return [attribute.value for attribute in parse(raw)[0] if attribute.name == name]


def _named(raw: bytes, name: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(word for value in _values(raw, name) for word in words(value)))


def _blocks_around(registry: Snapshot, first: int, last: int) -> list[int]:
    """The as-blocks that contain the numbers and more than those, the smallest first."""
    around = [
        block
        for block in registry.blocks
        if block.first <= first and last <= block.last and (block.first, block.last) != (first, last)
    ]
    return [block.entry for block in sorted(around, key=lambda block: block.last - block.first)]


def _blocks_of_number(registry: Snapshot, key: str) -> Sequence[int]:
    number = parse_asn(key)
    if number is None:
        return ()
    whole = [block.entry for block in registry.blocks if block.first == block.last == number]
    return [*whole, *_blocks_around(registry, number, number)]


def _blocks_of_block(registry: Snapshot, key: str) -> Sequence[int]:
    found = _AS_BLOCK.fullmatch(fold(key))
    return _blocks_around(registry, int(found[1]), int(found[2])) if found else ()


def _networks(registry: Snapshot, key: str, *, itself: bool) -> Sequence[int]:
    """The networks that contain the block, the nearest first."""
    try:
        block = parse_prefix(key)
    except PrefixRefused:
        return ()
    return [place for places in registry.networks.covering(block, itself=itself) for place in places]


#: For each class whose new objects take something: the entries that may have it to give, the nearest first.
_HOLDERS: Mapping[str, Callable[[Snapshot, str], Sequence[int]]] = {
    "aut-num": _blocks_of_number,
    "as-block": _blocks_of_block,
    **dict.fromkeys(("inetnum", "inet6num"), partial(_networks, itself=False)),
    **dict.fromkeys(("route", "route6"), partial(_networks, itself=True)),
}
