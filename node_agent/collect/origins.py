"""Origin validation (RFC 6811) against the authorisations that this node's BIRD has from its caches."""

from __future__ import annotations

from collections.abc import Iterable
from ipaddress import ip_network

from node_agent.bird.routes import RoaSeen
from shared.protocol.reports import Validity


class Authorisations:
    """Authorisations by the prefix that they are for."""

    def __init__(self, found: Iterable[RoaSeen] = ()) -> None:
        self._by_prefix: dict[tuple[int, int, int], list[RoaSeen]] = {}
        #: Lengths of the prefixes by family, so that no others are looked up.
        self._lengths: dict[int, set[int]] = {4: set(), 6: set()}
        for entry in found:
            network = ip_network(entry.prefix)
            place = (network.version, network.prefixlen, int(network.network_address))
            self._by_prefix.setdefault(place, []).append(entry)
            self._lengths[network.version].add(network.prefixlen)

    def __len__(self) -> int:
        return len(self._by_prefix)

    def validity(self, prefix: str, origin: int | None) -> Validity:
        """What they make of a route. Without any of the family there is nothing to go by."""
        network = ip_network(prefix)
        if origin is None or not self._lengths[network.version]:
            return Validity.UNCHECKED
        covered = False
        for entry in self._covering(network.version, network.prefixlen, int(network.network_address)):
            covered = True
            if entry.asn == origin and network.prefixlen <= entry.longest:
                return Validity.VALID
        return Validity.INVALID if covered else Validity.NOT_FOUND

    def _covering(self, version: int, length: int, address: int) -> Iterable[RoaSeen]:
        bits = 32 if version == 4 else 128  # noqa: PLR2004 - the families themselves
        for shorter in self._lengths[version]:
            if shorter <= length:
                low = bits - shorter
                yield from self._by_prefix.get((version, shorter, address >> low << low), ())
