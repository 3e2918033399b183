"""What the wizard derives from an AS number, a node and the registry, and where each value comes from."""

from __future__ import annotations

from collections.abc import Iterator
from ipaddress import IPv6Address

from control_server.neighbours.schemas import NeighbourRead
from control_server.nodes.schemas import RoutingFacts
from control_server.peerings.rules.documents import usual_port
from control_server.peerings.schemas import Derived, PeeringForm

#: Last digits of an AS number that networks put into their link-local address.
_DIGITS = 10_000
#: Stands behind them where the address without it is taken.
_OTHERWISE = "beef"
#: With a filter of the registry, a limit of twice what it may originate, and of this at least.
_LEAST_LIMIT = 20
_LIMIT_WITHOUT_FILTER = 1000
#: What a tunnel over IPv6 leaves of 1500, and so over IPv4 as well.
_MTU = "1420"
#: Keeps the path through a neighbour's firewall open.
KEEPALIVE = "25"


def usual_link_local(asn: int, ours: IPv6Address) -> IPv6Address:
    """`fe80::` and the last four digits of the AS number; another where that is the node's own."""
    digits = f"{asn % _DIGITS:d}"
    found, taken = IPv6Address(f"fe80::{digits}"), {ours, IPv6Address("fe80::")}
    return IPv6Address(f"fe80::{digits}:{_OTHERWISE}") if found in taken else found


def completed(typed: PeeringForm, asn: int, routing: RoutingFacts, registry: NeighbourRead) -> PeeringForm:
    """The form with what is derived in the fields that were left empty."""
    return typed.model_copy(
        update={
            "neighbor6": typed.neighbor6.strip() or str(usual_link_local(asn, routing.link_local)),
            "name": typed.name.strip() or f"as{asn}",
            "description": typed.description.strip() or (registry.as_name or ""),
            "mtu": typed.mtu.strip() or _MTU,
            "local_pref": typed.local_pref.strip() or "100",
            "prepend": typed.prepend.strip() or "0",
            "latency": typed.latency.strip() or "1",
            "bandwidth": typed.bandwidth.strip() or "24",
            "import_limit": typed.import_limit.strip() or str(import_limit(typed, registry)),
        }
    )


def import_limit(typed: PeeringForm, registry: NeighbourRead) -> int:
    """How many prefixes are taken of each family."""
    if typed.registry_filter != "origin" or not registry.routes_known:
        return _LIMIT_WITHOUT_FILTER
    return max(_LEAST_LIMIT, 2 * len(registry.routes))


def derived(typed: PeeringForm, asn: int, routing: RoutingFacts, *, pooled: bool) -> Iterator[Derived]:
    """Every value that nobody has to type, in the order in which it is read."""
    port = typed.listen_port.strip()
    usual = "" if pooled else str(usual_port(asn))
    yield Derived("listen_port", port or usual, "typed" if port else "pool" if pooled else "asn")
    yield Derived("", str(routing.link_local), "node")
    theirs = usual_link_local(asn, routing.link_local)
    yield Derived("neighbor6", typed.neighbor6, "asn" if typed.neighbor6 == str(theirs) else "typed")
    yield Derived("name", typed.name, "asn" if typed.name == f"as{asn}" else "typed")
    yield Derived("mtu", typed.mtu, "tunnel" if typed.mtu == _MTU else "typed")
    yield Derived("import_limit", typed.import_limit, "filter" if typed.registry_filter else "usual")
    yield Derived("latency", f"{typed.latency}, {typed.bandwidth}", "usual")
    yield Derived("local_pref", typed.local_pref, "usual")
    yield Derived("bfd", typed.bfd, "usual")
