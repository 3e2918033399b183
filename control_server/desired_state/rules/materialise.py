"""From the facts to what one node should run. Everything derivable is derived here and nowhere else."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from ipaddress import IPv6Address, IPv6Interface, ip_interface
from typing import Any

from pydantic import ValidationError

from control_server.desired_state.errors import StateInvalid
from control_server.desired_state.schemas import LinkFacts, PeeringFacts
from control_server.neighbours.rules import prefix_list
from control_server.neighbours.schemas import RouteObject
from control_server.nodes.schemas import Lifecycle, NodeFactsRead, RoutingFacts
from control_server.peerings.schemas import PeeringDocument, PlainFacts, TunnelFacts
from control_server.policy.schemas import PolicyRead
from shared.kernel.errors import FieldError
from shared.protocol.desired_state.document import DesiredState
from shared.protocol.desired_state.links import Link, PlainLink, WireGuardLink
from shared.protocol.desired_state.names import LinkAddress, PrefixRange
from shared.protocol.desired_state.node import NodeIdentity
from shared.protocol.desired_state.peerings import Peering, Session
from shared.protocol.desired_state.routing import Ibgp, IbgpNeighbor, Igp, IgpInterface
from shared.protocol.fleet import NodeKeys

_ROUTING = {Lifecycle.ACTIVE, Lifecycle.DRAINING}
_NOT_IN_NAMES = re.compile(r"[^a-z0-9_]")
_NAME_CHARACTERS = 24


@dataclass(frozen=True, slots=True)
class FleetFacts:
    """Everything from which states follow."""

    policy: PolicyRead
    nodes: Mapping[str, NodeFactsRead]
    keys: Mapping[str, NodeKeys]
    peerings: Mapping[str, Sequence[PeeringFacts]]
    links: Sequence[LinkFacts]
    #: What the registry lets others originate, by source.
    routes: Mapping[str, Sequence[RouteObject]] = field(default_factory=dict)


def materialise(facts: FleetFacts, node_id: str) -> DesiredState | None:
    """What the node should run; None while it routes nothing. Raises StateInvalid with what does not fit."""
    node = facts.nodes[node_id]
    if node.routing.asn is None or node.lifecycle is Lifecycle.PENDING:
        return None
    try:
        return _state(facts, node)
    except ValidationError as error:
        fields = [
            FieldError(".".join(map(str, item["loc"])), str(item["type"]), _message(item["msg"]))
            for item in error.errors(include_url=False, include_input=False)
        ]
        detail = f"{node_id} cannot run this: {'; '.join(dict.fromkeys(f.message for f in fields))}."
        raise StateInvalid(detail, fields=fields) from error


def _state(facts: FleetFacts, node: NodeFactsRead) -> DesiredState:
    identity = _identity(node)
    if node.lifecycle not in _ROUTING:
        return DesiredState(node=identity, routing=False)
    inside = [link for link in facts.links if link.enabled and node.node_id in {link.node_a, link.node_b}]
    ready = [(link, other) for link in inside if (other := _other_end(facts, link, node.node_id)) is not None]
    outside = [peering for peering in facts.peerings.get(node.node_id, ()) if peering.enabled]
    routing = node.routing
    return DesiredState(
        node=identity,
        links=(
            *(_inside_link(facts, link, node, other) for link, other in ready),
            *(_outside_link(peering, routing) for peering in outside),
        ),
        anycast=tuple(routing.anycast),
        log=routing.log,
        kernel=routing.kernel,
        static_routes=tuple(routing.static_routes),
        policy=facts.policy.policy,
        roa=facts.policy.roa,
        bfd=facts.policy.bfd,
        igp=_igp(facts, [link for link, _ in ready], node.node_id),
        ibgp=_ibgp(facts, node),
        peerings=tuple(_peering(facts, peering, routing) for peering in outside),
        collectors=tuple(facts.policy.collectors),
    )


def _identity(node: NodeFactsRead) -> NodeIdentity:
    routing = node.routing
    return NodeIdentity.model_validate(
        {
            "id": node.node_id,
            "number": routing.number,
            "asn": routing.asn,
            "router_id": routing.router_id or routing.loopback4,
            "hostname": routing.hostname,
            "loopback4": routing.loopback4,
            "loopback6": routing.loopback6,
            "prefixes4": routing.prefixes4,
            "prefixes6": routing.prefixes6,
            "proof4": routing.proof4,
            "proof6": routing.proof6,
            "region": routing.region,
            "country": routing.country,
            "draining": node.lifecycle is Lifecycle.DRAINING or node.maintenance is not None,
        }
    )


def _other_end(facts: FleetFacts, link: LinkFacts, node_id: str) -> NodeFactsRead | None:
    """The node at the other end, once a link to it can be made."""
    other = facts.nodes.get(link.node_b if link.node_a == node_id else link.node_a)
    if other is None or other.routing.asn is None or other.lifecycle not in _ROUTING:
        return None
    if link.document.kind == "wireguard" and other.node_id not in facts.keys:
        return None
    return other


def _inside_link(facts: FleetFacts, link: LinkFacts, node: NodeFactsRead, other: NodeFactsRead) -> Link:
    document, end = link.document, link.end_of(node.node_id)
    addresses = tuple(_inside_addresses(node.routing, other.routing))
    interface = link.interface(end)
    if document.kind == "plain":
        return PlainLink(interface=interface, addresses=addresses, mtu=document.mtu)
    there = other.routing.endpoint
    return WireGuardLink(
        interface=interface,
        addresses=addresses,
        mtu=document.mtu,
        listen_port=link.port(end),
        peer_public_key=facts.keys[other.node_id].wireguard,
        endpoint=f"{_bracketed(there)}:{link.port('b' if end == 'a' else 'a')}" if there else None,
        keepalive=document.keepalive,
        userspace=document.userspace,
    )


def _inside_addresses(own: RoutingFacts, other: RoutingFacts) -> Iterator[LinkAddress]:
    """A link-local address that tells the node, and the loopback lent to the link for IPv4."""
    base = int(IPv6Address("fe80::"))
    yield LinkAddress(address=IPv6Interface(f"{IPv6Address(base + (own.number or 0))}/64"))
    if own.loopback4 is not None and other.loopback4 is not None:
        yield LinkAddress(address=ip_interface(f"{own.loopback4}/32"), peer=other.loopback4)


def _outside_link(peering: PeeringFacts, routing: RoutingFacts) -> Link:
    link = peering.document.link
    addresses = (LinkAddress(address=IPv6Interface(f"{routing.link_local}/64")), *link.addresses)
    if isinstance(link, PlainFacts):
        return PlainLink(interface=link.interface, addresses=addresses, mtu=link.mtu)
    more: dict[str, Any] = {} if link.allowed_ips is None else {"allowed_ips": tuple(link.allowed_ips)}
    return WireGuardLink(
        interface=_tunnel_name(link),
        addresses=addresses,
        mtu=link.mtu,
        listen_port=link.listen_port,
        peer_public_key=link.peer_public_key,
        endpoint=link.endpoint,
        keepalive=link.keepalive,
        preshared_key=link.preshared_key,
        userspace=link.userspace,
        **more,
    )


def _peering(facts: FleetFacts, peering: PeeringFacts, routing: RoutingFacts) -> Peering:
    return Peering(
        name=peering.name,
        asn=peering.asn,
        description=peering.description,
        session=_session(peering.document, routing, _registered(facts, peering)),
    )


def _registered(facts: FleetFacts, peering: PeeringFacts) -> tuple[PrefixRange, ...] | None:
    """The filter of a peering that asks for the registry's; nothing passes before the registry has spoken."""
    wanted = peering.document.registry_filter
    return None if wanted is None else prefix_list(facts.routes.get(wanted.source(peering.asn), ()))


def _session(
    document: PeeringDocument, routing: RoutingFacts, registered: tuple[PrefixRange, ...] | None
) -> Session:
    """The session with what its link says: the interface, and the node's own end of it."""
    session, link = document.session, document.link
    own: dict[str, Any] = {}
    if session.interface is None:
        own["interface"] = link.interface if isinstance(link, PlainFacts) else _tunnel_name(link)
    neighbor = session.neighbor6
    if session.source6 is None and neighbor is not None and neighbor.is_link_local:
        own["source6"] = routing.link_local
    if registered is not None:
        own["policy"] = session.policy.model_copy(update={"prefix_list": registered})
    # Every value was validated as a fact, and the link has said what a link-local neighbour still wanted.
    facts = {name: getattr(session, name) for name in Session.model_fields}
    return Session.model_construct(**{**facts, **own})


def _igp(facts: FleetFacts, links: Sequence[LinkFacts], node_id: str) -> Igp:
    inside = facts.policy.inside
    if inside.igp == "off" or not links:
        return Igp()
    interfaces = tuple(
        IgpInterface(interface=link.interface(link.end_of(node_id)), cost=link.document.cost, bfd=inside.bfd)
        for link in links
    )
    return Igp(kind=inside.igp, interfaces=interfaces)


def _ibgp(facts: FleetFacts, node: NodeFactsRead) -> Ibgp:
    inside = facts.policy.inside
    neighbors = tuple(
        IbgpNeighbor(
            name=symbol(other.node_id),
            address=other.routing.loopback6 or other.routing.loopback4,
            rr_client=inside.ibgp == "reflector" and other.node_id not in inside.reflectors,
        )
        for other in facts.nodes.values()
        if _speaks_inside(node, other)
        and (inside.ibgp == "full_mesh" or {node.node_id, other.node_id} & set(inside.reflectors))
    )
    if inside.ibgp == "off" or not neighbors:
        return Ibgp()
    reflects = inside.ibgp == "reflector" and node.node_id in inside.reflectors
    return Ibgp(mode="reflector" if reflects else "full_mesh", neighbors=neighbors, bfd=inside.bfd)


def _speaks_inside(node: NodeFactsRead, other: NodeFactsRead) -> bool:
    return (
        other.node_id != node.node_id
        and other.lifecycle in _ROUTING
        and other.routing.asn == node.routing.asn
        and (other.routing.loopback6 is not None or other.routing.loopback4 is not None)
    )


def symbol(node_id: str) -> str:
    """A node's name as BIRD takes it."""
    name = _NOT_IN_NAMES.sub("_", node_id)
    return (name if name[0].isalpha() else f"n_{name}")[:_NAME_CHARACTERS]


def _tunnel_name(link: TunnelFacts) -> str:
    assert link.interface is not None  # noqa: S101 - given when the peering is written
    return link.interface


def _bracketed(host: str) -> str:
    return f"[{host}]" if ":" in host else host


def _message(text: str) -> str:
    return text.removeprefix("Value error, ")
