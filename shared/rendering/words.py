"""How values are spelled in BIRD's language."""

from __future__ import annotations

from collections.abc import Iterable
from ipaddress import IPv4Network, IPv6Network, ip_address

from shared.protocol.desired_state.names import AsnRange, PrefixRange


def on_off(value: bool) -> str:
    """A switch."""
    return "on" if value else "off"


def yes_no(value: bool) -> str:
    """A constant of type bool."""
    return "true" if value else "false"


def prefix_range(entry: PrefixRange) -> str:
    """One member of a prefix set."""
    network = entry.prefix
    if entry.shortest == entry.longest == network.prefixlen:
        return str(network)
    if entry.shortest == network.prefixlen and entry.longest == network.max_prefixlen:
        return f"{network}+"
    return f"{network}{{{entry.shortest},{entry.longest}}}"


def prefix_set(entries: Iterable[PrefixRange], version: int) -> str:
    """A prefix set of one family; `[]` matches nothing."""
    members = [prefix_range(entry) for entry in entries if entry.prefix.version == version]
    return _set(members)


def own_set(networks: Iterable[IPv4Network | IPv6Network]) -> str:
    """The networks and everything inside them."""
    return _set([f"{network}+" for network in networks])


def asn_set(ranges: Iterable[AsnRange]) -> str:
    """A set of AS numbers."""
    return _set([str(r.first) if r.first == r.last else f"{r.first}..{r.last}" for r in ranges])


def is_address(text: str) -> bool:
    """Whether the text is an address and not a name."""
    try:
        ip_address(text)
    except ValueError:
        return False
    return True


def quoted(text: str) -> str:
    """A string; the schema has refused what a string cannot hold."""
    return f'"{text}"'


def _set(members: list[str]) -> str:
    return f"[ {', '.join(members)} ]" if members else "[]"
