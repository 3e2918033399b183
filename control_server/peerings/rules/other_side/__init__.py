"""The configuration of the other end of a peering: what the neighbour pastes, whatever its router runs."""

from __future__ import annotations

from control_server.nodes.schemas import RoutingFacts
from control_server.peerings.rules.other_side.bird import bird_text
from control_server.peerings.rules.other_side.far_end import FarEnd, ends_of
from control_server.peerings.rules.other_side.frr import frr_text
from control_server.peerings.rules.other_side.openbgpd import openbgpd_text
from control_server.peerings.rules.other_side.wireguard import wireguard_text
from control_server.peerings.schemas import OtherSide, PeeringRead, TunnelFacts


def other_side(peering: PeeringRead, routing: RoutingFacts, public_key: str | None) -> OtherSide:
    """The texts for the neighbour; its private key, shared secrets and filters are its own to fill in."""
    far = FarEnd(peering, routing, tuple(ends_of(peering, routing)))
    tunnel = peering.link if isinstance(peering.link, TunnelFacts) else None
    endpoint = _endpoint(tunnel, routing)
    return OtherSide(
        asn=peering.asn,
        node_asn=routing.asn or 0,
        public_key=public_key,
        endpoint=endpoint,
        addresses=[str(end.ours) for end in far.ends if end.ours is not None],
        wireguard="\n".join(wireguard_text(peering, tunnel, (public_key, endpoint))) if tunnel else None,
        bird="\n".join(bird_text(far)),
        frr="\n".join(frr_text(far)),
        openbgpd="\n".join(openbgpd_text(far)),
    )


def _endpoint(tunnel: TunnelFacts | None, routing: RoutingFacts) -> str | None:
    if tunnel is None or not routing.endpoint or not tunnel.listen_port:
        return None
    host = f"[{routing.endpoint}]" if ":" in routing.endpoint else routing.endpoint
    return f"{host}:{tunnel.listen_port}"
