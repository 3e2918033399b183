"""The neighbour's sessions, for BIRD 2 and newer."""

from __future__ import annotations

from collections.abc import Iterator

from control_server.peerings.rules.other_side.far_end import PASSWORD_MARK, End, FarEnd


def bird_text(far: FarEnd) -> Iterator[str]:
    """Line by line."""
    yield "# BIRD 2 and newer. Put your own filters in place of `import` and `export`."
    if far.peering.session.options.bfd:
        yield "# BFD wants `protocol bfd { }` once in your configuration."
    yield from far.about_the_link("#")
    for end in far.ends:
        name = f"{far.symbol}_{end.theirs.version}" if len(far.ends) > 1 else far.symbol
        yield f"protocol bgp {name} {{"
        yield f"  local {end.theirs} as {far.peering.asn};"
        yield f"  neighbor {_neighbor(far, end)} as {far.asn};"
        yield from _options(far)
        for family in end.families:
            yield from _channel(far, end, family)
        yield "}"


def _neighbor(far: FarEnd, end: End) -> str:
    return f"{end.node} % '{far.interface}'" if end.link_local else end.node


def _options(far: FarEnd) -> Iterator[str]:
    options = far.peering.session.options
    if far.peering.has_password:
        yield f'  password "{PASSWORD_MARK}";'
    if options.ttl_security:
        yield "  ttl security on;"
    if options.multihop is not None:
        yield f"  multihop {options.multihop};"
    if far.role is not None:
        yield f"  local role {far.role};"
    if options.bfd:
        yield "  bfd on;"


def _channel(far: FarEnd, end: End, family: int) -> Iterator[str]:
    yield f"  ipv{family} {{"
    if far.extended(end, family):
        yield "    extended next hop on;"
    yield "    import all;"
    yield "    export where source = RTS_STATIC;"
    yield "  };"
