"""What the texts for all kinds of routers have in common: the sessions as the neighbour sees them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address

from control_server.nodes.schemas import RoutingFacts
from control_server.peerings.rules.documents import interface_of
from control_server.peerings.schemas import PeeringRead, PlainFacts, TunnelFacts
from shared.protocol.desired_state.names import LinkAddress

Address = IPv4Address | IPv6Address

#: What stands where the node has not told, or been told, something yet.
UNKNOWN = "NOT-KNOWN-YET"
#: What stands where only the neighbour knows the secret.
PASSWORD_MARK = "THE-PASSWORD-THAT-WE-SHARE"  # noqa: S105 - a mark to replace
_NOT_IN_SYMBOLS = re.compile(r"[^a-z0-9_]")
_ROLE_OF_THE_OTHER = {
    "peer": "peer",
    "provider": "customer",
    "customer": "provider",
    "rs_server": "rs_client",
    "rs_client": "rs_server",
}


@dataclass(frozen=True, slots=True)
class End:
    """One session: the neighbour's address and the node's, and the families that it carries."""

    theirs: Address
    ours: Address | None
    families: tuple[int, ...]

    @property
    def node(self) -> str:
        """The node's address, or that nobody has written one yet."""
        return UNKNOWN if self.ours is None else str(self.ours)

    @property
    def link_local(self) -> bool:
        return isinstance(self.theirs, IPv6Address) and self.theirs.is_link_local


@dataclass(frozen=True, slots=True)
class FarEnd:
    """A peering, seen from its other end."""

    peering: PeeringRead
    routing: RoutingFacts
    ends: Sequence[End]

    @property
    def asn(self) -> str:
        """Of the node."""
        return str(self.routing.asn or UNKNOWN)

    @property
    def symbol(self) -> str:
        """A name that every one of the programs takes as it is."""
        return "node_" + _NOT_IN_SYMBOLS.sub("_", self.peering.node_id)

    @property
    def interface(self) -> str:
        """The neighbour's end of the link, as the text for it is named."""
        return interface_of(self.peering.node_id)

    @property
    def plain(self) -> bool:
        return isinstance(self.peering.link, PlainFacts)

    @property
    def role(self) -> str | None:
        """The role of the neighbour (RFC 9234), where ours is set."""
        ours = self.peering.session.options.role
        return None if ours is None else _ROLE_OF_THE_OTHER[ours]

    def extended(self, end: End, family: int) -> bool:
        """Whether a family's next hops are of the other one (RFC 8950)."""
        return self.peering.session.extended_next_hop and family != end.theirs.version

    def about_the_link(self, comment: str) -> Iterator[str]:
        """Remarks on a link that no text of ours makes."""
        if self.plain:
            yield f"{comment} `{self.interface}` stands for your end of the link; your address on it:"
            yield from (f"{comment}   {end.theirs}" for end in self.ends)


def ends_of(peering: PeeringRead, routing: RoutingFacts) -> Iterator[End]:
    """The sessions of a peering; a multiprotocol one carries every family."""
    session, link = peering.session, peering.link
    pairs = ((session.neighbor6, session.source6), (session.neighbor4, session.source4))
    found = [(theirs, source) for theirs, source in pairs if theirs is not None]
    split = session.mode == "split"
    for theirs, source in found if split else found[:1]:
        families = tuple(each for each in session.families if not split or each == theirs.version)
        if families:
            yield End(theirs, source or _own_address(theirs, link, routing), families)


def faces(entry: LinkAddress, theirs: Address) -> bool:
    """Whether an address of a link reaches the neighbour's directly."""
    return entry.peer == theirs or (
        entry.address.version == theirs.version and theirs in entry.address.network
    )


def _own_address(theirs: Address, link: TunnelFacts | PlainFacts, routing: RoutingFacts) -> Address | None:
    if isinstance(theirs, IPv6Address) and theirs.is_link_local:
        return routing.link_local
    for entry in link.addresses:
        if faces(entry, theirs):
            return entry.address.ip
    return routing.loopback4 if theirs.version == 4 else routing.loopback6  # noqa: PLR2004
