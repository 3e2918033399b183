"""From the facts to what one node should run. Everything derivable is derived here and nowhere else."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from pydantic import ValidationError

from control_server.desired_state.errors import StateInvalid
from control_server.desired_state.rules.inside import (
    ROUTING,
    FleetFacts,
    inside_link,
    interior,
    ready_links,
    sessions_inside,
)
from control_server.desired_state.rules.outside import outside
from control_server.desired_state.schemas import Derived
from control_server.neighbours.rules import prefix_list
from control_server.nodes.schemas import Lifecycle, NodeFactsRead, RoutingFacts
from control_server.peerings.schemas import RecordedPeering
from shared.kernel.errors import FieldError
from shared.protocol.desired_state.canonical import listed, spell
from shared.protocol.desired_state.document import DesiredState, digest_of
from shared.protocol.desired_state.links import Link
from shared.protocol.desired_state.node import NodeIdentity
from shared.protocol.desired_state.peerings import Peering


class _Pieces(NamedTuple):
    link: Link
    link_spelling: str
    peering: Peering
    peering_spelling: str


def materialise(facts: FleetFacts, node_id: str) -> Derived | None:
    """What the node should run; None while it routes nothing. Raises StateInvalid with what does not fit."""
    node = facts.nodes[node_id]
    if node.routing.asn is None or node.lifecycle is Lifecycle.PENDING:
        return None
    try:
        return _derived(facts, node)
    except ValidationError as error:
        fields = [
            FieldError(".".join(map(str, item["loc"])), str(item["type"]), _message(item["msg"]))
            for item in error.errors(include_url=False, include_input=False)
        ]
        detail = f"{node_id} cannot run this: {'; '.join(dict.fromkeys(f.message for f in fields))}."
        raise StateInvalid(detail, fields=fields) from error


def _derived(facts: FleetFacts, node: NodeFactsRead) -> Derived:
    identity = _identity(node)
    if node.lifecycle not in ROUTING:
        return _spelled(DesiredState(node=identity, routing=False), {})
    routing, ready = node.routing, ready_links(facts, node)
    inner = [inside_link(facts, link, node, other) for link, other in ready]
    outer = [_pieces(facts, row, routing) for row in facts.peerings.get(node.node_id, ()) if row.enabled]
    state = DesiredState(
        node=identity,
        links=(*inner, *(piece.link for piece in outer)),
        anycast=tuple(routing.anycast),
        log=routing.log,
        kernel=routing.kernel,
        static_routes=tuple(routing.static_routes),
        igp=interior(facts, [link for link, _ in ready], node.node_id),
        ibgp=sessions_inside(facts, node),
        peerings=tuple(piece.peering for piece in outer),
        **facts.shared,
    )
    known = {
        "links": listed([*map(spell, inner), *(piece.link_spelling for piece in outer)]),
        "peerings": listed(piece.peering_spelling for piece in outer),
    }
    return _spelled(state, {**facts.spelled, **known})


def _spelled(state: DesiredState, known: Mapping[str, str]) -> Derived:
    spelling = state.canonical(known)
    return Derived(state, spelling, digest_of(spelling))


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


def _pieces(facts: FleetFacts, row: RecordedPeering, routing: RoutingFacts) -> _Pieces:
    """A peering's link and session; nothing passes a registry's filter before the registry has spoken."""
    found = outside(row, routing.link_local)
    if found.registry_filter is None:
        return _Pieces(found.link, found.link_spelling, found.peering, found.peering_spelling)
    routes = facts.routes.get(found.registry_filter.source(row.asn), ())
    return _Pieces(found.link, found.link_spelling, *found.filtered(prefix_list(routes)))


def _message(text: str) -> str:
    return text.removeprefix("Value error, ")
