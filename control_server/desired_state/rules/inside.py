"""Between our own nodes: links, the interior protocol, and who speaks iBGP with whom."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from ipaddress import IPv6Address, IPv6Interface, ip_interface
from typing import Any

from control_server.desired_state.schemas import LinkFacts
from control_server.neighbours.schemas import RouteObject
from control_server.nodes.schemas import Lifecycle, NodeFactsRead, RoutingFacts
from control_server.peerings.schemas import RecordedPeering
from control_server.policy.schemas import PolicyRead
from shared.protocol.desired_state.canonical import spell
from shared.protocol.desired_state.links import Link, PlainLink, WireGuardLink
from shared.protocol.desired_state.names import LinkAddress
from shared.protocol.desired_state.routing import Ibgp, IbgpNeighbor, Igp, IgpInterface
from shared.protocol.fleet import NodeKeys

#: Lifecycles in which a node routes.
ROUTING = frozenset({Lifecycle.ACTIVE, Lifecycle.DRAINING})
_NOT_IN_NAMES = re.compile(r"[^a-z0-9_]")
_NAME_CHARACTERS = 24


@dataclass(frozen=True)
class FleetFacts:
    """Everything from which states follow. What is the same for many nodes is found once."""

    policy: PolicyRead
    nodes: Mapping[str, NodeFactsRead]
    keys: Mapping[str, NodeKeys]
    peerings: Mapping[str, Sequence[RecordedPeering]]
    links: Sequence[LinkFacts]
    #: What the registry lets others originate, by source.
    routes: Mapping[str, Sequence[RouteObject]] = field(default_factory=dict)

    @cached_property
    def spelled(self) -> Mapping[str, str]:
        """The policy's fields of a state, spelled once: origin authorisations alone may be thousands."""
        return {name: spell(value) for name, value in self.shared.items()}

    @cached_property
    def shared(self) -> Mapping[str, Any]:
        """What every node that routes has from the policy, by the fields of a state."""
        policy = self.policy
        return {
            "policy": policy.policy,
            "roa": policy.roa,
            "bfd": policy.bfd,
            "collectors": tuple(policy.collectors),
        }

    @cached_property
    def links_by_node(self) -> Mapping[str, Sequence[LinkFacts]]:
        """Links that are in use, by the node at either end."""
        found: dict[str, list[LinkFacts]] = {}
        for link in self.links:
            if link.enabled:
                for node_id in {link.node_a, link.node_b}:
                    found.setdefault(node_id, []).append(link)
        return found

    @cached_property
    def speakers(self) -> Mapping[int, Mapping[str, IbgpNeighbor]]:
        """Who can speak iBGP, by AS number and node, as the others see it."""
        inside, found = self.policy.inside, dict[int, dict[str, IbgpNeighbor]]()
        clients = inside.ibgp == "reflector"
        for node in self.nodes.values():
            routing = node.routing
            address = routing.loopback6 or routing.loopback4
            if address is None or routing.asn is None or node.lifecycle not in ROUTING:
                continue
            found.setdefault(routing.asn, {})[node.node_id] = IbgpNeighbor(
                name=symbol(node.node_id),
                address=address,
                rr_client=clients and node.node_id not in inside.reflectors,
            )
        return found

    @cached_property
    def reflectors(self) -> Mapping[int, Mapping[str, IbgpNeighbor]]:
        """Those of the speakers that reflect routes."""
        chosen = set(self.policy.inside.reflectors)
        return {
            asn: {node_id: speaker for node_id, speaker in speakers.items() if node_id in chosen}
            for asn, speakers in self.speakers.items()
        }


def sources_of(
    nodes: Collection[str] | None, policy: PolicyRead, links: Sequence[LinkFacts]
) -> Collection[str] | None:
    """The nodes from whose facts the states of these follow, given all links of theirs; None: from all.

    A node hears of those at the other ends of its links and of those it speaks iBGP with, and of nobody else.
    """
    if nodes is None or policy.inside.ibgp == "full_mesh":
        return None
    reflectors = policy.inside.reflectors if policy.inside.ibgp == "reflector" else ()
    if not set(reflectors).isdisjoint(nodes):
        return None
    return {*nodes, *reflectors, *(end for link in links for end in (link.node_a, link.node_b))}


def ready_links(facts: FleetFacts, node: NodeFactsRead) -> list[tuple[LinkFacts, NodeFactsRead]]:
    """The links of a node that can be made, each with the node at its other end."""
    links = facts.links_by_node.get(node.node_id, ())
    return [(link, other) for link in links if (other := _other_end(facts, link, node.node_id)) is not None]


def _other_end(facts: FleetFacts, link: LinkFacts, node_id: str) -> NodeFactsRead | None:
    """The node at the other end, once a link to it can be made."""
    other = facts.nodes.get(link.node_b if link.node_a == node_id else link.node_a)
    if other is None or other.routing.asn is None or other.lifecycle not in ROUTING:
        return None
    if link.document.kind == "wireguard" and other.node_id not in facts.keys:
        return None
    return other


def inside_link(facts: FleetFacts, link: LinkFacts, node: NodeFactsRead, other: NodeFactsRead) -> Link:
    """A link as it is at one of its ends."""
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


def interior(facts: FleetFacts, links: Sequence[LinkFacts], node_id: str) -> Igp:
    """The interior protocol on a node's links."""
    inside = facts.policy.inside
    if inside.igp == "off" or not links:
        return Igp()
    interfaces = tuple(
        IgpInterface(interface=link.interface(link.end_of(node_id)), cost=link.document.cost, bfd=inside.bfd)
        for link in links
    )
    return Igp(kind=inside.igp, interfaces=interfaces)


def sessions_inside(facts: FleetFacts, node: NodeFactsRead) -> Ibgp:
    """A node's iBGP: with all others of its network, or with those that reflect."""
    inside, asn = facts.policy.inside, node.routing.asn
    if inside.ibgp == "off" or asn is None:
        return Ibgp()
    reflects = inside.ibgp == "reflector" and node.node_id in inside.reflectors
    everybody = reflects or inside.ibgp == "full_mesh"
    others = (facts.speakers if everybody else facts.reflectors).get(asn, {})
    neighbors = tuple(speaker for node_id, speaker in others.items() if node_id != node.node_id)
    if not neighbors:
        return Ibgp()
    return Ibgp(mode="reflector" if reflects else "full_mesh", neighbors=neighbors, bfd=inside.bfd)


def symbol(node_id: str) -> str:
    """A node's name as BIRD takes it."""
    name = _NOT_IN_NAMES.sub("_", node_id)
    return (name if name[0].isalpha() else f"n_{name}")[:_NAME_CHARACTERS]


def _bracketed(host: str) -> str:
    return f"[{host}]" if ":" in host else host
