"""Address blocks of a sample: disjoint, canonical, each in the ranges that the filters permit."""

from __future__ import annotations

from collections.abc import Iterator
from ipaddress import IPv4Address, IPv4Network, IPv6Network
from random import Random

from registry_server.samples.rules.people import Holder
from registry_server.samples.rules.text import Line, file_of
from registry_server.samples.schemas import SampleFile

#: Roots of the address plan, with who may take from them.
ROOTS4 = (IPv4Network("172.20.0.0/14"), IPv4Network("10.0.0.0/8"))
ROOTS6 = (IPv6Network("fd00::/8"),)
#: Where the common range is left for the neighbouring one.
_KEPT4, _NEXT4 = int(IPv4Address("172.23.0.0")), int(IPv4Address("10.100.0.0"))
_SEVERAL_ORIGINS = 0.023
_SEVERAL_MAINTAINERS = 0.01
_MAX_LENGTH = {4: 0.12, 6: 0.44}
Network = IPv4Network | IPv6Network

#: First match wins: number, action, prefix, shortest and longest announcement.
FILTER4 = """\
# nr  action  prefix              min  max
1     deny    172.22.166.0/24     24   32   # kept free
2     permit  172.20.0.0/14       21   29   # the common range
3     permit  10.100.0.0/14       14   32   # a neighbouring network
4     permit  10.0.0.0/8          15   24   # everything else that is private
9999  deny    0.0.0.0/0           0    32
"""
FILTER6 = """\
# nr  action  prefix              min  max
1     deny    fdd6:6302:7c04::/48 48   64   # kept free
2     permit  fd00::/8            44   64   # unique local addresses
9999  deny    ::/0                0    128
"""


def blocks4(random: Random) -> Iterator[IPv4Network]:
    """Disjoint blocks, each aligned; the last quarter of the first root is kept for deliberate mistakes."""
    following = int(ROOTS4[0].network_address)
    while True:
        length = random.choices((24, 25, 26, 27), weights=(5, 15, 30, 50))[0]
        size = 1 << (32 - length)
        start = -(-following // size) * size
        if start == _KEPT4:
            start = _NEXT4
        following = start + size
        yield IPv4Network((start, length))


def blocks6(random: Random) -> Iterator[IPv6Network]:
    """Blocks at random, none twice."""
    used: set[int] = set()
    while True:
        number = 0xFD << 40 | random.getrandbits(40)
        if number not in used:
            used.add(number)
            yield IPv6Network((number << 80, 48))


def root(network: Network, policy: str) -> SampleFile:
    """A block that others take from; by the schema it needs no maintainer."""
    return inetnum(network, "ROOT", [("policy", policy), ("mnt-by", "DN42-MNT"), ("source", "DN42")])


def inetnum(network: Network, name: str, owned: list[Line]) -> SampleFile:
    """A block and who holds it."""
    object_class = "inetnum" if network.version == 4 else "inet6num"  # noqa: PLR2004 - the protocol's name
    first, last = (address.exploded for address in (network[0], network[-1]))
    lines = [(object_class, f"{first} - {last}"), ("cidr", str(network)), ("netname", f"{name}-NET"), *owned]
    return file_of(object_class, str(network), lines)


def route(random: Random, network: Network, holder: Holder, others: list[int]) -> SampleFile:
    """A route of the block; a few have several origins, more have a longest announcement."""
    origins = holder.asns[:1] or [random.choice(others)]
    if random.random() < _SEVERAL_ORIGINS:
        more = [asn for asn in random.sample(others, min(6, len(others))) if asn not in origins]
        origins = origins + more[: random.randint(1, 6)]
    lines: list[Line] = [("route" if network.version == 4 else "route6", str(network))]  # noqa: PLR2004
    lines += [("origin", f"AS{asn}") for asn in origins]
    if random.random() < _MAX_LENGTH[network.version]:
        longest = 29 if network.version == 4 else 64  # noqa: PLR2004
        lines.append(("max-length", str(random.randint(network.prefixlen, longest))))
    lines += [("mnt-by", holder.mntner)]
    if random.random() < _SEVERAL_MAINTAINERS:
        lines += [("mnt-by", "DN42-MNT")]
    return file_of(lines[0][0], str(network), [*lines, ("source", "DN42")], routes=len(origins))
