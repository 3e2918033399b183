"""What follows from route objects."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from ipaddress import IPv4Network, IPv6Network

from control_server.neighbours.schemas import Known, PrefixCheck, RouteObject
from shared.protocol.desired_state.names import PrefixRange

Network = IPv4Network | IPv6Network


def prefix_list(routes: Iterable[RouteObject]) -> tuple[PrefixRange, ...]:
    """The filter that these objects make: each prefix, and longer ones only where the object says so."""
    longest: dict[Network, int] = {}
    for route in routes:
        longest[route.prefix] = max(longest.get(route.prefix, 0), route.longest)
    ordered = sorted(longest, key=lambda net: (net.version, int(net.network_address), net.prefixlen))
    return tuple(
        PrefixRange(prefix=prefix, shortest=prefix.prefixlen, longest=longest[prefix]) for prefix in ordered
    )


def may_originate(routes: Sequence[RouteObject], prefix: Network) -> PrefixCheck:
    """Whether an object allows the prefix, and who maintains it."""
    for route in routes:
        if _covers(route, prefix):
            return PrefixCheck(prefix=prefix, verdict=Known.YES, mnt_by=list(route.mnt_by))
    return PrefixCheck(prefix=prefix, verdict=Known.NO)


def _covers(route: RouteObject, prefix: Network) -> bool:
    if not prefix.prefixlen <= route.longest:
        return False
    own = route.prefix
    if isinstance(own, IPv4Network) and isinstance(prefix, IPv4Network):
        return prefix.subnet_of(own)
    return isinstance(own, IPv6Network) and isinstance(prefix, IPv6Network) and prefix.subnet_of(own)
