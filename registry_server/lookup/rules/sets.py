"""What the members of as-sets come to."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from registry_server.lookup.schemas.sets import AsSetExpansion
from registry_server.objects.rules.classes import fold
from registry_server.objects.rules.grammar import parse, words
from registry_server.objects.rules.numbers import parse_asn

_ANYBODY = "any"


def expansion(
    name: str,
    reached: Mapping[str, str],
    sets: Mapping[str, tuple[str, bytes]],
    claimants: Iterable[tuple[str, int, str]],
) -> AsSetExpansion:
    """Add up what was reached; an AS that names a set is in it if the set trusts its maintainer."""
    trusted = {folded: _trusted(raw) for folded, (_, raw) in sets.items()}
    by_reference = {asn for folded, asn, owner in claimants if {owner, _ANYBODY} & trusted[folded]}
    listed = {folded: parse_asn(shown) for folded, shown in reached.items()}
    direct = {number for number in listed.values() if number is not None}
    missing = [shown for folded, shown in reached.items() if listed[folded] is None and folded not in sets]
    return AsSetExpansion(
        as_set=name,
        asns=sorted(direct | by_reference),
        sets=sorted(key for key, _ in sets.values()),
        by_reference=sorted(by_reference - direct),
        missing=sorted(missing),
        warnings=["as0"] if 0 in direct | by_reference else [],
    )


def _trusted(raw: bytes) -> set[str]:
    attributes, _ = parse(raw)
    return {fold(word) for each in attributes if each.name == "mbrs-by-ref" for word in words(each.value)}
