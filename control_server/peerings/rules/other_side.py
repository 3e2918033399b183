"""The configuration of the other end of a peering: what the neighbour pastes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from ipaddress import IPv4Address, IPv6Address

from control_server.nodes.schemas import RoutingFacts
from control_server.peerings.rules.documents import interface_of
from control_server.peerings.schemas import OtherSide, PeeringRead, PlainFacts, TunnelFacts
from shared.protocol.desired_state.names import LinkAddress

Address = IPv4Address | IPv6Address

_NOT_IN_SYMBOLS = re.compile(r"[^a-z0-9_]")
_ROLE_OF_THE_OTHER = {
    "peer": "peer",
    "provider": "customer",
    "customer": "provider",
    "rs_server": "rs_client",
    "rs_client": "rs_server",
}


def other_side(peering: PeeringRead, routing: RoutingFacts, public_key: str | None) -> OtherSide:
    """The texts for the neighbour; its private key, shared secrets and filters are its own to fill in."""
    ends = list(_ends(peering, routing))
    tunnel = peering.link if isinstance(peering.link, TunnelFacts) else None
    endpoint = None
    if tunnel is not None and routing.endpoint and tunnel.listen_port:
        host = f"[{routing.endpoint}]" if ":" in routing.endpoint else routing.endpoint
        endpoint = f"{host}:{tunnel.listen_port}"
    return OtherSide(
        asn=peering.asn,
        node_asn=routing.asn or 0,
        public_key=public_key,
        endpoint=endpoint,
        addresses=[str(ours) for _, ours in ends if ours is not None],
        wireguard="\n".join(_wireguard(peering, tunnel, (public_key, endpoint))) if tunnel else None,
        bird="\n".join(_bird(peering, routing, ends)),
    )


def _ends(peering: PeeringRead, routing: RoutingFacts) -> Iterator[tuple[Address, Address | None]]:
    """The neighbour's address and the node's, of each session."""
    session, link = peering.session, peering.link
    pairs = ((session.neighbor6, session.source6), (session.neighbor4, session.source4))
    found = [(theirs, source) for theirs, source in pairs if theirs is not None]
    for theirs, source in found if session.mode == "split" else found[:1]:
        yield theirs, source or _own_address(theirs, link, routing)


def _own_address(theirs: Address, link: TunnelFacts | PlainFacts, routing: RoutingFacts) -> Address | None:
    if isinstance(theirs, IPv6Address) and theirs.is_link_local:
        return routing.link_local
    for entry in link.addresses:
        if _faces(entry, theirs):
            return entry.address.ip
    return routing.loopback4 if theirs.version == 4 else routing.loopback6  # noqa: PLR2004


def _faces(entry: LinkAddress, theirs: Address) -> bool:
    return entry.peer == theirs or (
        entry.address.version == theirs.version and theirs in entry.address.network
    )


def _wireguard(
    peering: PeeringRead, tunnel: TunnelFacts, node: tuple[str | None, str | None]
) -> Iterator[str]:
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
    yield f"PublicKey = {public_key or 'NOT-KNOWN-YET'}"
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
            if theirs is not None and not theirs.is_link_local and _faces(entry, theirs):
                yield f"Address = {theirs}/{entry.address.network.prefixlen}"


def _bird(
    peering: PeeringRead, routing: RoutingFacts, ends: list[tuple[Address, Address | None]]
) -> Iterator[str]:
    symbol = "node_" + _NOT_IN_SYMBOLS.sub("_", peering.node_id)
    yield "# BIRD 2 and newer. Put your own filters in place of `import` and `export`."
    if peering.session.options.bfd:
        yield "# BFD wants `protocol bfd { }` once in your configuration."
    if isinstance(peering.link, PlainFacts):
        yield f"# `{interface_of(peering.node_id)}` stands for your end of the link; your address on it:"
        yield from (f"#   {theirs}" for theirs, _ours in ends)
    for theirs, ours in ends:
        name = f"{symbol}_{theirs.version}" if len(ends) > 1 else symbol
        yield f"protocol bgp {name} {{"
        yield f"  local {theirs} as {peering.asn};"
        yield f"  neighbor {_neighbor(peering, theirs, ours)} as {routing.asn};"
        yield from _options(peering)
        for family in peering.session.families:
            if peering.session.mode == "multiprotocol" or family == theirs.version:
                yield from _channel(peering, family, theirs)
        yield "}"


def _neighbor(peering: PeeringRead, theirs: Address, ours: Address | None) -> str:
    if not theirs.is_link_local:
        return str(ours)
    return f"{ours} % '{interface_of(peering.node_id)}'"


def _options(peering: PeeringRead) -> Iterator[str]:
    options = peering.session.options
    if peering.has_password:
        yield '  password "THE-PASSWORD-THAT-WE-SHARE";'
    if options.ttl_security:
        yield "  ttl security on;"
    if options.multihop is not None:
        yield f"  multihop {options.multihop};"
    if options.role is not None:
        yield f"  local role {_ROLE_OF_THE_OTHER[options.role]};"
    if options.bfd:
        yield "  bfd on;"


def _channel(peering: PeeringRead, family: int, theirs: Address) -> Iterator[str]:
    yield f"  ipv{family} {{"
    if peering.session.extended_next_hop and family != theirs.version:
        yield "    extended next hop on;"
    yield "    import all;"
    yield "    export where source = RTS_STATIC;"
    yield "  };"
