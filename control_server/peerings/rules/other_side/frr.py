"""The neighbour's sessions, for FRR: pasted into `vtysh`, or into its frr.conf."""

from __future__ import annotations

from collections.abc import Iterator

from control_server.peerings.rules.other_side.far_end import PASSWORD_MARK, End, FarEnd


def frr_text(far: FarEnd) -> Iterator[str]:
    """Line by line."""
    yield "! FRR 8.4 and newer. Put your own route maps in place of these two:"
    yield "! all comes in, only your own goes out."
    if far.peering.session.options.bfd:
        yield "! BFD wants `bfdd=yes` in /etc/frr/daemons."
    yield from far.about_the_link("!")
    yield f"bgp as-path access-list {far.symbol}_own seq 5 permit ^$"
    yield f"route-map {far.symbol}_in permit 10"
    yield "exit"
    yield f"route-map {far.symbol}_out permit 10"
    yield f" match as-path {far.symbol}_own"
    yield "exit"
    yield f"router bgp {far.peering.asn}"
    for end in far.ends:
        yield from _neighbor(far, end)
    for family in dict.fromkeys(family for end in far.ends for family in end.families):
        yield f" address-family ipv{family} unicast"
        for end in far.ends:
            yield from _activated(far, end, family)
        yield " exit-address-family"
    yield "exit"


def _neighbor(far: FarEnd, end: End) -> Iterator[str]:
    at, options = f" neighbor {end.node}", far.peering.session.options
    yield f"{at} remote-as {far.asn}"
    yield f"{at} description {far.peering.node_id}"
    if end.link_local:
        yield f"{at} interface {far.interface}"
    else:
        yield f"{at} update-source {end.theirs}"
    # FRR takes one of the two: with the distance, the second says what the first does.
    if options.ttl_security:
        yield f"{at} ttl-security hops {options.multihop or 1}"
    elif options.multihop is not None:
        yield f"{at} ebgp-multihop {options.multihop}"
    if far.peering.has_password:
        yield f"{at} password {PASSWORD_MARK}"
    if far.role is not None:
        yield f"{at} local-role {far.role.replace('_', '-')}"
    if options.bfd:
        yield f"{at} bfd"
    if any(far.extended(end, family) for family in end.families):
        yield f"{at} capability extended-nexthop"


def _activated(far: FarEnd, end: End, family: int) -> Iterator[str]:
    at = f"  neighbor {end.node}"
    if family not in end.families:
        # FRR gives every neighbour IPv4 that is not told otherwise.
        if family == 4:  # noqa: PLR2004
            yield f"{at.replace('neighbor', 'no neighbor')} activate"
        return
    yield f"{at} activate"
    yield f"{at} route-map {far.symbol}_in in"
    yield f"{at} route-map {far.symbol}_out out"
