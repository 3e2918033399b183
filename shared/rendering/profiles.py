"""What a network takes unless its operators say otherwise."""

from __future__ import annotations

from ipaddress import ip_network
from typing import Literal

from shared.protocol.desired_state.names import AsnRange, PrefixRange
from shared.protocol.desired_state.routing import Policy


def _range(prefix: str, shortest: int, longest: int) -> PrefixRange:
    return PrefixRange(prefix=ip_network(prefix), shortest=shortest, longest=longest)


def _inside(prefix: str) -> PrefixRange:
    network = ip_network(prefix)
    return PrefixRange(prefix=network, shortest=network.prefixlen, longest=network.max_prefixlen)


#: dn42 and the networks joined to it.
_DN42_4 = (
    _range("172.20.0.0/14", 21, 29),
    *(_range(f"172.{second}.0.0/24", 28, 32) for second in (20, 21, 22, 23)),
    _inside("172.31.0.0/16"),
    _inside("10.100.0.0/14"),
    _inside("10.127.0.0/16"),
    _range("10.0.0.0/8", 15, 24),
)
_DN42_6 = (_range("fd00::/8", 44, 64),)
#: Special-purpose addresses (RFC 6890) and what is too long for the public table.
BOGONS_4 = (
    *map(
        _inside,
        (
            "0.0.0.0/8",
            "10.0.0.0/8",
            "100.64.0.0/10",
            "127.0.0.0/8",
            "169.254.0.0/16",
            "172.16.0.0/12",
            "192.0.0.0/24",
            "192.0.2.0/24",
            "192.168.0.0/16",
            "198.18.0.0/15",
            "198.51.100.0/24",
            "203.0.113.0/24",
            "224.0.0.0/3",
        ),
    ),
    _range("0.0.0.0/0", 25, 32),
)
#: Documentation, 6to4 and Teredo inside the global unicast space.
BOGONS_6 = tuple(map(_inside, ("2001:db8::/32", "2002::/16", "2001::/32", "3fff::/20")))
_INTERNET_4 = (_range("0.0.0.0/0", 8, 24),)
_INTERNET_6 = (_range("2000::/3", 19, 48),)
_BAD_ASN = tuple(
    AsnRange(first=first, last=last)
    for first, last in (
        (0, 0),
        (23456, 23456),
        (64496, 64511),
        (65535, 65535),
        (65536, 65551),
        (4294967295, 4294967295),
    )
)
#: Private use (RFC 6996) is what dn42 lives on and what the Internet refuses.
_PRIVATE_ASN = (AsnRange(first=64512, last=65534), AsnRange(first=4200000000, last=4294967294))


def allowed(policy: Policy, family: Literal[4, 6]) -> tuple[PrefixRange, ...]:
    """The prefixes that are taken, of one family."""
    chosen = policy.allowed4 if family == 4 else policy.allowed6  # noqa: PLR2004
    if chosen is not None:
        return chosen
    if policy.profile == "dn42":
        return _DN42_4 if family == 4 else _DN42_6  # noqa: PLR2004
    return _INTERNET_4 if family == 4 else _INTERNET_6  # noqa: PLR2004


def refused_asns(policy: Policy) -> tuple[AsnRange, ...]:
    """AS numbers that no path may hold."""
    if policy.bad_asn is not None:
        return policy.bad_asn
    return _BAD_ASN if policy.profile == "dn42" else (*_BAD_ASN, *_PRIVATE_ASN)
