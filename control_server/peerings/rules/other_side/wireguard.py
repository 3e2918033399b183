"""The neighbour's end of the tunnel, for wg-quick(8)."""

from __future__ import annotations

from collections.abc import Iterator

from control_server.peerings.rules.documents import interface_of
from control_server.peerings.rules.other_side.far_end import UNKNOWN, faces
from control_server.peerings.schemas import PeeringRead, TunnelFacts


def wireguard_text(
    peering: PeeringRead, tunnel: TunnelFacts, node: tuple[str | None, str | None]
) -> Iterator[str]:
    """Line by line; `node` is the node's public key and where it listens."""
    public_key, endpoint = node
    yield f"# /etc/wireguard/{interface_of(peering.node_id)}.conf"
    yield "[Interface]"
    yield "PrivateKey = YOUR-PRIVATE-KEY"
    if tunnel.endpoint:
        yield f"ListenPort = {tunnel.endpoint.rpartition(':')[2]}"
    yield from _addresses(peering, tunnel)
    yield f"MTU = {tunnel.mtu}"
    yield "Table = off"
    yield ""
    yield "[Peer]"
    yield f"PublicKey = {public_key or UNKNOWN}"
    if peering.has_preshared_key:
        yield "PresharedKey = THE-KEY-THAT-WE-SHARE"
    if endpoint:
        yield f"Endpoint = {endpoint}"
    yield "AllowedIPs = 0.0.0.0/0, ::/0"
    if tunnel.keepalive:
        yield f"PersistentKeepalive = {tunnel.keepalive}"


def _addresses(peering: PeeringRead, tunnel: TunnelFacts) -> Iterator[str]:
    session = peering.session
    if session.neighbor6 is not None and session.neighbor6.is_link_local:
        yield f"Address = {session.neighbor6}/64"
    for entry in tunnel.addresses:
        if entry.peer is not None:
            yield f"PostUp = ip address add {entry.peer} peer {entry.address.ip} dev %i"
            continue
        for theirs in (session.neighbor6, session.neighbor4):
            if theirs is not None and not theirs.is_link_local and faces(entry, theirs):
                yield f"Address = {theirs}/{entry.address.network.prefixlen}"
