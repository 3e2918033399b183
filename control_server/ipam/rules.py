"""Which values a pool has, in the order in which they are given out."""

from __future__ import annotations

from collections.abc import Iterator
from ipaddress import ip_network

from control_server.ipam.schemas import PoolKind

#: Of a large network only the first addresses are given out; nobody has more nodes.
_MOST = 65_536


def values(kind: PoolKind, text: str) -> Iterator[str]:
    """All values. The first address of a network is left to whoever looks for it there."""
    if kind in {PoolKind.LOOPBACK4, PoolKind.LOOPBACK6}:
        network = ip_network(text)
        most = min(network.num_addresses, _MOST)
        first = 0 if most == 1 else 1
        yield from (str(network[index]) for index in range(first, most))
    else:
        low, _, high = text.partition("-")
        yield from map(str, range(int(low), int(high) + 1))


def size(kind: PoolKind, text: str) -> int:
    """How many values a pool has on one node, or in the fleet."""
    return sum(1 for _ in values(kind, text))
