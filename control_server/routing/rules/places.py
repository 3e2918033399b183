"""Where a prefix stands among others."""

from __future__ import annotations

import re
from ipaddress import IPv4Network, IPv6Network, ip_network

from control_server.routing.errors import PrefixNotUnderstood
from control_server.routing.schemas import Place

_LONGEST_TEXT = 64
_AS_NUMBER = re.compile(r"^(?:AS)?(\d{1,10})$", re.IGNORECASE | re.ASCII)
_NUMBERS = 2**32
Network = IPv4Network | IPv6Network


def network_of(text: str) -> Network:
    """A prefix, or an address as the longest of prefixes; host bits are put out.

    Raises PrefixNotUnderstood.
    """
    try:
        return ip_network(text.strip()[:_LONGEST_TEXT], strict=False)
    except ValueError:
        raise PrefixNotUnderstood(f"{text[:_LONGEST_TEXT]!r} is no prefix and no address.") from None


def place_of(network: Network) -> Place:
    """The place of a prefix."""
    return Place(
        str(network), network.version, network.prefixlen, _key(network, int(network.network_address))
    )


def highest_of(network: Network) -> str:
    """The key that no prefix within this one lies behind."""
    return _key(network, int(network.broadcast_address))


def as_number(text: str) -> int | None:
    """The AS number that a person typed, with or without `AS`; None where it is something else."""
    found = _AS_NUMBER.match(text.strip())
    return int(found[1]) if found and int(found[1]) < _NUMBERS else None


def span(text: str) -> tuple[str, str]:
    """The keys of the first and the last place in a prefix. Raises PrefixNotUnderstood."""
    network = network_of(text)
    return place_of(network).lowest, highest_of(network)


def covering(network: Network) -> list[str]:
    """Every prefix that this one lies in, itself last."""
    return [str(network.supernet(new_prefix=length)) for length in range(network.prefixlen + 1)]


def _key(network: Network, address: int) -> str:
    return f"{network.version}{address:0{network.max_prefixlen // 4}x}"
