"""What a set stands for. Sets may contain each other in any way: each is visited once, without recursion."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from registry_server.objects.rules.classes import fold
from registry_server.objects.rules.numbers import PrefixRefused, parse_asn, parse_prefix
from registry_server.objects.schemas import Prefix
from registry_server.snapshot.schemas.content import Snapshot

#: A prefix with a range operator (RFC 2622, section 2); a bare `+` or `-` is a slip for `^+` or `^-`.
_RANGE = re.compile(
    r"([0-9A-F:.]+/[0-9]{1,3})(?:\^?([+-])|\^([0-9]{1,3})(?:-([0-9]{1,3}))?)?", re.ASCII | re.IGNORECASE
)
_BITS = {4: 32, 6: 128}


@dataclass(frozen=True, slots=True)
class Expander:
    """Follows sets in one snapshot."""

    snapshot: Snapshot
    #: Folded names of sets that are not followed.
    excluded: frozenset[str] = field(default_factory=frozenset)
    #: A range that stands for more prefixes is left out.
    range_limit: int = 1 << 20

    def members(self, name: str) -> list[str]:
        """The direct members as they are written, ranges in their regular form."""
        found = self.snapshot.sets.get(fold(name))
        if found is None:
            return []
        members = []
        for member in found.members:
            bounded = self._bounded(member) if found.object_class == "route-set" else None
            members += [member] if bounded is None else bounded
        return _ordered(member for member in members if fold(member) != fold(name))

    def resolved(self, name: str) -> list[str]:
        """All AS numbers of an as-set, or all prefixes of a route-set, however deep they stand."""
        found = self.snapshot.sets.get(fold(name))
        if found is None:
            return []
        if found.object_class == "as-set":
            return [f"AS{number}" for number in sorted(self.as_numbers(name))]
        return self._prefixes(name)

    def as_numbers(self, name: str) -> set[int]:
        """The AS numbers of an as-set. A member that does not exist counts for nothing."""
        numbers: set[int] = set()
        for member in self._walk(name, ("as-set",)):
            number = parse_asn(member)
            if number is not None:
                numbers.add(number)
        return numbers

    def routed(self, numbers: Iterable[int], family: int) -> list[str]:
        """The distinct prefixes that these originate, in the order of addresses."""
        originated = self.snapshot.originated[family]
        places: set[int] = set()
        for number in numbers:
            places.update(originated.by_origin.get(number, ()))
        return [originated.texts[place] for place in sorted(places)]

    def _prefixes(self, name: str) -> list[str]:
        """Of a route-set, whose members may also be AS numbers and as-sets (RFC 2622, section 5.2)."""
        ranges: list[str] = []
        numbers: set[int] = set()
        for member in self._walk(name, ("route-set", "as-set")):
            number = parse_asn(member)
            if number is not None:
                numbers.add(number)
            else:
                ranges += self._bounded(member) or ()
        routed = [prefix for family in (4, 6) for prefix in self.routed(numbers, family)]
        return _ordered([*ranges, *routed])

    def _walk(self, name: str, classes: tuple[str, ...]) -> Iterator[str]:
        """Every member of the set and of the sets below it that is not itself such a set."""
        waiting, seen = deque([fold(name)]), {fold(name)}
        while waiting:
            found = self.snapshot.sets.get(waiting.popleft())
            if found is None or found.object_class not in classes:
                continue
            for member in found.members:
                below = fold(member)
                if below not in self.snapshot.sets:
                    yield member
                elif below not in seen and below not in self.excluded:
                    seen.add(below)
                    waiting.append(below)

    def _bounded(self, member: str) -> list[str] | None:
        """The range in its regular form; nothing where it is wrong or too wide; None where it is a name."""
        found = _RANGE.fullmatch(member)
        if not found:
            return None
        try:
            prefix = parse_prefix(found[1])
        except PrefixRefused:
            return []
        lengths = _lengths(prefix, *found.groups()[1:])
        if lengths is None:
            return []
        shortest, longest, operator = lengths
        above = max(shortest - prefix.length, 0)
        count = (1 << (longest - prefix.length + 1)) - (1 << above)
        return [] if count > self.range_limit else [f"{prefix.text}{operator}"]


def _lengths(
    prefix: Prefix, sign: str | None, low: str | None, high: str | None
) -> tuple[int, int, str] | None:
    """The shortest and longest prefix that a range stands for, and its operator; None where it has none."""
    bits = _BITS[prefix.family]
    if sign == "+":
        return prefix.length, bits, "^+"
    if sign == "-":
        return (prefix.length + 1, bits, "^-") if prefix.length < bits else None
    if low is None:
        return prefix.length, prefix.length, ""
    shortest, longest = int(low), int(high or low)
    if not prefix.length <= shortest <= longest <= bits:
        return None
    return shortest, longest, f"^{shortest}-{longest}" if high else f"^{shortest}"


def _ordered(members: Iterable[str]) -> list[str]:
    """Distinct members: AS numbers, then names, then prefixes, each in its own order."""
    return sorted(set(members), key=_place)


def _place(member: str) -> tuple[int, int, str | bytes, int, str]:
    number = parse_asn(member)
    if number is not None:
        return (0, number, "", 0, "")
    address = member.partition("^")[0]
    try:
        prefix = parse_prefix(address)
    except PrefixRefused:
        return (1, 0, member, 0, "")
    return (2, prefix.family, prefix.first, prefix.length, member)
