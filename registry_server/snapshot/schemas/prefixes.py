"""Finds address blocks: the exact one, those that contain it, those inside it."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator

from registry_server.objects.schemas import Prefix

_BITS = {4: 32, 6: 128}


class PrefixIndex:
    """Blocks of both families with the numbers that were filed under them. Filled once, then only read."""

    def __init__(self, blocks: Iterable[tuple[Prefix, int]]) -> None:
        filed: dict[tuple[int, int, int], list[int]] = {}
        #: By family, first address and length in the order of addresses, shorter ones first.
        self._ordered: dict[int, list[tuple[int, int]]] = {4: [], 6: []}
        for prefix, number in blocks:
            key = (prefix.family, int.from_bytes(prefix.first), prefix.length)
            filed.setdefault(key, []).append(number)
        #: Tuples, which nearly always have one number and then take half of a list.
        self._filed = {key: tuple(numbers) for key, numbers in filed.items()}
        for family, first, length in self._filed:
            self._ordered[family].append((first, length))
        for some in self._ordered.values():
            some.sort()
        #: The lengths that occur, longest first: few, so a covering block is a handful of look-ups away.
        self._lengths = {
            family: sorted({length for _, length in some}, reverse=True)
            for family, some in self._ordered.items()
        }

    def exact(self, prefix: Prefix) -> tuple[int, ...]:
        """What is filed under exactly this block."""
        return self._filed.get((prefix.family, int.from_bytes(prefix.first), prefix.length), ())

    def covering(self, prefix: Prefix, *, itself: bool) -> Iterator[tuple[int, ...]]:
        """What is filed under blocks that contain this one, the longest first."""
        family, address, bits = prefix.family, int.from_bytes(prefix.first), _BITS[prefix.family]
        for length in self._lengths[family]:
            if length < prefix.length or (itself and length == prefix.length):
                network = address >> (bits - length) << (bits - length)
                if found := self._filed.get((family, network, length)):
                    yield found

    def inside(self, prefix: Prefix) -> Iterator[tuple[int, ...]]:
        """What is filed under blocks inside this one, not the block itself, in the order of addresses."""
        ordered = self._ordered[prefix.family]
        first, last = int.from_bytes(prefix.first), int.from_bytes(prefix.last)
        start = bisect_left(ordered, (first, prefix.length + 1))
        for place in range(start, len(ordered)):
            network, length = ordered[place]
            if network > last:
                return
            if length > prefix.length:
                yield self._filed[prefix.family, network, length]

    def first_inside(self, prefix: Prefix) -> Iterator[int]:
        """What is filed under the blocks inside this one that lie in no other block inside it."""
        bits = _BITS[prefix.family]
        ordered = self._ordered[prefix.family]
        first, last = int.from_bytes(prefix.first), int.from_bytes(prefix.last)
        place = bisect_left(ordered, (first, prefix.length + 1))
        while place < len(ordered) and ordered[place][0] <= last:
            network, length = ordered[place]
            if length <= prefix.length:
                place += 1
                continue
            yield from self._filed[prefix.family, network, length]
            place = bisect_left(ordered, (network + (1 << (bits - length)), 0))
