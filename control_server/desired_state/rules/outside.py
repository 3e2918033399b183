"""To other networks: what follows from one peering alone, and is the same until the peering changes."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from ipaddress import IPv6Address, IPv6Interface
from typing import Any

from control_server.neighbours.schemas import RegistryFilter
from control_server.peerings.schemas import PeeringDocument, PlainFacts, RecordedPeering, TunnelFacts
from shared.protocol.desired_state.canonical import spell
from shared.protocol.desired_state.links import EVERYTHING, Link, PlainLink, WireGuardLink
from shared.protocol.desired_state.names import LinkAddress, PrefixRange
from shared.protocol.desired_state.peerings import Peering, Session

#: Peerings whose pieces are remembered, a few kilobytes each: with one fact, all states are derived anew.
_REMEMBERED = 16_384
#: Link-local addresses that are remembered; most nodes have the same one.
_NODES = 1024


@dataclass(frozen=True, slots=True)
class Outside:
    """A peering's pieces of a state, each with its spelling."""

    link: Link
    peering: Peering
    link_spelling: str
    peering_spelling: str
    registry_filter: RegistryFilter | None

    def filtered(self, prefixes: tuple[PrefixRange, ...]) -> tuple[Peering, str]:
        """The peering with the registry's prefixes as its filter, and its spelling."""
        session = self.peering.session
        policy = session.policy.model_copy(update={"prefix_list": prefixes})
        peering = self.peering.model_copy(update={"session": session.model_copy(update={"policy": policy})})
        return peering, spell(peering)


@lru_cache(maxsize=_REMEMBERED)
def outside(row: RecordedPeering, link_local: IPv6Address) -> Outside:
    """What follows from a peering on a node with this address. Raises ValidationError."""
    document = PeeringDocument.model_validate_json(row.document)
    link = _link(document.link, _own_end(link_local))
    peering = Peering(
        name=row.name, asn=row.asn, description=row.description, session=_session(document, link_local)
    )
    return Outside(link, peering, spell(link), spell(peering), document.registry_filter)


@lru_cache(maxsize=_NODES)
def _own_end(link_local: IPv6Address) -> LinkAddress:
    return LinkAddress(address=IPv6Interface(f"{link_local}/64"))


def _link(link: TunnelFacts | PlainFacts, own_end: LinkAddress) -> Link:
    """The interface. Every value of it was validated as a fact."""
    addresses = (own_end, *link.addresses)
    if isinstance(link, PlainFacts):
        return PlainLink.model_construct(interface=link.interface, addresses=addresses, mtu=link.mtu)
    values: dict[str, Any] = {
        "interface": _tunnel_name(link),
        "addresses": addresses,
        "mtu": link.mtu,
        "listen_port": link.listen_port,
        "peer_public_key": link.peer_public_key,
        "endpoint": link.endpoint,
        "keepalive": link.keepalive,
        "preshared_key": link.preshared_key,
        "userspace": link.userspace,
        "allowed_ips": EVERYTHING if link.allowed_ips is None else tuple(link.allowed_ips),
    }
    if link.endpoint is None and link.listen_port is None:
        return WireGuardLink(**values)  # the one thing that only a whole link can refuse
    return WireGuardLink.model_construct(**values)


def _session(document: PeeringDocument, link_local: IPv6Address) -> Session:
    """The session with what its link says: the interface, and the node's own end of it."""
    session, link = document.session, document.link
    own: dict[str, Any] = {}
    if session.interface is None:
        own["interface"] = link.interface if isinstance(link, PlainFacts) else _tunnel_name(link)
    neighbor = session.neighbor6
    if session.source6 is None and neighbor is not None and neighbor.is_link_local:
        own["source6"] = link_local
    # Every value was validated as a fact, and the link has said what a link-local neighbour still wanted.
    facts = {name: getattr(session, name) for name in Session.model_fields}
    return Session.model_construct(**{**facts, **own})


def _tunnel_name(link: TunnelFacts) -> str:
    assert link.interface is not None  # noqa: S101 - given when the peering is written
    return link.interface
