"""From facts to states: what is remembered of a peering never shows in what follows from the facts."""

from __future__ import annotations

import json
from typing import Any

import pytest

from control_server.desired_state.errors import StateInvalid
from control_server.desired_state.rules.inside import FleetFacts
from control_server.desired_state.rules.materialise import materialise
from control_server.desired_state.rules.outside import outside
from control_server.desired_state.schemas import Derived, LinkFacts
from control_server.neighbours.schemas import RouteObject
from control_server.nodes.schemas import NodeFactsRead
from control_server.peerings.schemas import LinkDocument, PeeringDocument, RecordedPeering
from control_server.policy.schemas import PolicyRead
from shared.protocol.desired_state.document import DesiredState, digest_of
from shared.protocol.fleet import NodeKeys

KEY = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="


def node(number: int, lifecycle: str = "active", **routing: Any) -> NodeFactsRead:
    facts = {
        "asn": 4242429900,
        "number": number,
        "loopback4": f"172.20.99.{number}",
        "loopback6": f"fd42:9900::{number}",
        "prefixes4": ["172.20.99.0/26"],
        "prefixes6": ["fd42:9900::/48"],
        "endpoint": f"r{number}.example",
        **routing,
    }
    return NodeFactsRead.model_validate(
        {
            "node_id": f"r{number}",
            "version": 1,
            "site": "",
            "description": "",
            "labels": {},
            "lifecycle": lifecycle,
            "maintenance": None,
            "allow_targets": [],
            "deny_targets": [],
            "routing": facts,
            "generation": 0,
        }
    )


def row(name: str = "f", *, enabled: bool = True, **document: Any) -> RecordedPeering:
    whole = {
        "link": {"interface": f"wg-{name}", "peer_public_key": KEY, "endpoint": "f.example:20099"},
        "session": {"neighbor6": "fe80::801"},
        **document,
    }
    whole["link"] = {"kind": "wireguard", **whole["link"]}
    text = PeeringDocument.model_validate(whole).model_dump_json()
    return RecordedPeering("r1", f"{name:0>12}", name, 4242429801, "", enabled, text)


def fleet(*rows: RecordedPeering, policy: dict[str, Any] | None = None, **more: Any) -> FleetFacts:
    nodes = {each.node_id: each for each in more.pop("nodes", (node(1), node(2), node(3)))}
    keys = {name: NodeKeys(wireguard=KEY, sealing=KEY) for name in nodes}
    read = PolicyRead.model_validate({"version": 1, **(policy or {})})
    return FleetFacts(read, nodes, keys, {"r1": rows}, more.pop("links", ()), **more)


def derived(facts: FleetFacts, node_id: str = "r1") -> Derived:
    """What follows, once it was seen to be spelled as the state itself is."""
    found = materialise(facts, node_id)
    assert found is not None
    assert found.spelling == found.state.canonical()
    assert found.sha256 == digest_of(found.spelling) == found.state.digest
    assert DesiredState.model_validate_json(found.spelling) == found.state
    return found


LINKED = LinkFacts(
    "r1", "r2", True, LinkDocument(interface_a="wg-r2", interface_b="wg-r1", port_a=1001, port_b=1002)
)


def test_a_state_is_the_same_whether_or_not_its_peerings_are_remembered() -> None:
    rows = (row("a"), row("b", link={"kind": "plain", "interface": "eth-b"}), row("c", enabled=False))
    outside.cache_clear()
    first = derived(fleet(*rows, links=(LINKED,)))
    assert derived(fleet(*rows, links=(LINKED,))) == first
    assert [peering.name for peering in first.state.peerings] == ["a", "b"]
    assert [link.interface for link in first.state.links] == ["wg-r2", "wg-a", "eth-b"]


def test_a_peering_that_changed_is_derived_anew() -> None:
    before = derived(fleet(row()))
    after = derived(fleet(row(session={"neighbor6": "fe80::802"})))
    assert str(before.state.peerings[0].session.neighbor6) == "fe80::801"
    assert str(after.state.peerings[0].session.neighbor6) == "fe80::802"


def test_the_nodes_own_end_belongs_to_the_node() -> None:
    derived(fleet(row()))
    moved = derived(fleet(row(), nodes=(node(1, link_local="fe80::99"),)))
    assert str(moved.state.links[0].addresses[0].address) == "fe80::99/64"
    assert str(moved.state.peerings[0].session.source6) == "fe80::99"


def test_a_registrys_filter_follows_the_registry() -> None:
    asks = row(registry_filter={})
    assert derived(fleet(asks)).state.peerings[0].session.policy.prefix_list == ()
    route = RouteObject.model_validate({"prefix": "172.21.81.0/27", "max_length": 29})
    source = PeeringDocument.model_validate_json(asks.document).registry_filter
    assert source is not None
    told = derived(fleet(asks, routes={source.source(asks.asn): [route]}))
    assert told.state.peerings[0].session.policy.prefix_list
    assert derived(fleet(asks)).state.peerings[0].session.policy.prefix_list == ()


def test_a_tunnel_that_nobody_can_begin_is_refused() -> None:
    silent = row(link={"interface": "wg-f", "peer_public_key": KEY})
    with pytest.raises(StateInvalid, match="r1 cannot run this"):
        materialise(fleet(silent), "r1")


@pytest.mark.parametrize(
    ("inside", "who", "expected"),
    [
        ({"ibgp": "off"}, "r1", []),
        ({"ibgp": "full_mesh"}, "r1", [("r2", False), ("r3", False)]),
        ({"ibgp": "reflector", "reflectors": ["r2"]}, "r1", [("r2", False)]),
        ({"ibgp": "reflector", "reflectors": ["r2"]}, "r2", [("r1", True), ("r3", True)]),
        ({"ibgp": "reflector", "reflectors": ["r1", "r2"]}, "r1", [("r2", False), ("r3", True)]),
        ({"ibgp": "reflector"}, "r1", []),
    ],
)
def test_who_speaks_with_whom_inside(
    inside: dict[str, Any], who: str, expected: list[tuple[str, bool]]
) -> None:
    strangers = (node(4, asn=4242429901), node(5, lifecycle="decommissioned"))
    nodes = (node(1), node(2), node(3), *strangers)
    found = derived(fleet(policy={"inside": inside}, nodes=nodes), who).state.ibgp
    assert [(neighbor.name, neighbor.rr_client) for neighbor in found.neighbors] == expected


def test_what_a_generation_keeps_of_a_peering_is_its_row() -> None:
    kept = json.loads(row(registry_filter={}).kept())
    assert kept.keys() == {"id", "name", "asn", "description", "enabled", "document"}
    assert PeeringDocument.model_validate(kept["document"]).registry_filter is not None
