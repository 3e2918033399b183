"""Who may be at the two ends of a peering."""

from __future__ import annotations

from collections.abc import Iterator
from ipaddress import IPv4Address, IPv6Address
from typing import Any

from control_server.nodes.schemas import Lifecycle, RoutingFacts
from control_server.peerings.errors import NodeRoutesNothing
from control_server.peerings.schemas import PeeringDocument
from shared.kernel.errors import FieldError, InvalidInput


def check_routes(node_id: str, routing: dict[str, Any], lifecycle: str) -> None:
    """Refuse what is new on a node that routes nothing. Raises NodeRoutesNothing."""
    if not routing.get("asn"):
        raise NodeRoutesNothing(f"{node_id} has no AS number yet; write its routing facts first.")
    if lifecycle == Lifecycle.DECOMMISSIONED:
        raise NodeRoutesNothing(f"{node_id} is decommissioned; bring it back first.")


def check_ends(asn: int, document: PeeringDocument, routing: RoutingFacts) -> None:
    """Refuse a neighbour that is the node itself. Raises InvalidInput that names the field."""
    if asn == routing.asn:
        detail = "That is the node's own AS number; own nodes are joined by a link."
        raise InvalidInput(detail, fields=[FieldError("asn", "own_asn", detail)])
    session, own = document.session, set(_own(document, routing))
    for field, theirs in (("neighbor6", session.neighbor6), ("neighbor4", session.neighbor4)):
        if theirs is not None and theirs in own:
            detail = f"{theirs} is the node's own address; write the neighbour's."
            raise InvalidInput(detail, fields=[FieldError(f"session.{field}", "own_address", detail)])


def of_kind(document: dict[str, Any], patch: dict[str, Any]) -> dict[str, Any]:
    """The document that a patch is merged into: of a link of another kind nothing is kept."""
    wanted = (patch.get("link") or {}).get("kind")
    return document if wanted in (None, document["link"]["kind"]) else {**document, "link": {}}


def _own(document: PeeringDocument, routing: RoutingFacts) -> Iterator[IPv4Address | IPv6Address | None]:
    session = document.session
    yield from (session.source4, session.source6, routing.loopback4, routing.loopback6)
    yield from (entry.address.ip for entry in document.link.addresses)
    if session.source6 is None:
        yield routing.link_local
