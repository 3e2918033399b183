"""The neighbour's sessions, for OpenBGPD."""

from __future__ import annotations

from collections.abc import Iterator

from control_server.peerings.rules.other_side.far_end import PASSWORD_MARK, End, FarEnd


def openbgpd_text(far: FarEnd) -> Iterator[str]:
    """Line by line."""
    yield "# OpenBGPD 7.7 and newer. Put your own rules in place of the last three:"
    yield "# all comes in, only your own goes out."
    yield f"# `AS {far.peering.asn}` stands once at the top of your configuration."
    if far.peering.session.options.bfd:
        yield "# OpenBGPD speaks no BFD here: the session goes down by its hold time."
    yield from far.about_the_link("#")
    yield f'group "{far.symbol}" {{'
    for end in far.ends:
        yield from _neighbor(far, end)
    yield "}"
    yield from _taken(far)
    yield f"allow to group {far.symbol}"
    yield f"deny to group {far.symbol} max-as-len 0"


def _taken(far: FarEnd) -> Iterator[str]:
    rule = f"allow from group {far.symbol}"
    near = [end for end in far.ends if end.link_local]
    if not near:
        yield rule
        return
    # BIRD has no global address there to tell, so it tells `::` before the link-local one (RFC 2545,
    # section 3), and OpenBGPD would use that.
    yield "# Our next hop is link-local, so its interface is said here."
    yield f"{rule} set nexthop {near[0].node}%{far.interface}"


def _neighbor(far: FarEnd, end: End) -> Iterator[str]:
    options = far.peering.session.options
    scope = f"%{far.interface}" if end.link_local else ""
    yield f"\tneighbor {end.node}{scope} {{"
    yield f"\t\tremote-as {far.asn}"
    yield f'\t\tdescr "{far.peering.node_id}"'
    yield f"\t\tlocal-address {end.theirs}{scope}"
    for family in (4, 6):
        yield from _family(far, end, family)
    if options.multihop is not None:
        yield f"\t\tmultihop {options.multihop}"
    if options.ttl_security:
        yield "\t\tttl-security yes"
    if far.peering.has_password:
        yield f'\t\ttcp md5sig password "{PASSWORD_MARK}"'
    if far.role is not None:
        role = far.role.removeprefix("rs_").replace("server", "rs").replace("client", "rs-client")
        yield f"\t\t# Of the role (RFC 9234): `role {role}`, or in older versions `announce policy {role}`."
    yield "\t}"


def _family(far: FarEnd, end: End, family: int) -> Iterator[str]:
    if family not in end.families:
        yield f"\t\tannounce IPv{family} none"
    elif not far.extended(end, family):
        yield f"\t\tannounce IPv{family} unicast"
    else:
        yield f"\t\t# IPv{family} over this session needs extended next hop (RFC 8950), which 7.7 has not;"
        yield "\t\t# where yours has it, write these in place of the line below them:"
        yield f"\t\t#announce IPv{family} unicast"
        yield "\t\t#announce extended nexthop yes"
        yield f"\t\tannounce IPv{family} none"
