"""A fleet for pages to show: two nodes that route, a link, a pool, and peerings with other networks."""

from __future__ import annotations

from typing import Any

from tests.journeys.lite import Lite

KEY = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="
#: What its pages are opened for, in the places of their paths.
NODE, OTHER, POOL = "fra1", "ams1", "tunnels"
#: Tabs of a node that show more of one that routes than of the local one.
_TABS = ("files", "generations", "generations/{number}", "peerings", "peerings/new", "settings")


def fleet_of(server: Lite) -> dict[str, str]:
    """Write the facts where they are not written yet; what stands in the places of paths."""
    with server.client() as client:

        def sent(method: str, path: str, body: dict[str, Any] | None = None) -> Any:
            answer = client.request(method, f"/api/v1{path}", json=body)
            assert answer.is_success or answer.status_code == 409, answer.text
            return answer.json()

        for number, node in ((1, NODE), (2, OTHER)):
            sent("POST", "/nodes", {"node_id": node, "site": "Frankfurt", "routing": routing(number)})
        sent("POST", "/pools", {"name": POOL, "kind": "wireguard_port", "range": "51820-51999"})
        sent("POST", "/links", {"node_a": NODE, "node_b": OTHER})
        for name, asn in (("willow", 4242429901), ("kelp", 4242429902)):
            sent("POST", "/peerings", peering(name, asn))
        link = sent("GET", "/links")["items"][0]
        found = sent("GET", f"/peerings?node_id={NODE}")["items"][0]
    return {
        "/links/{ident} ident": link["id"],
        "/peerings/{ident} ident": found["id"],
        "number": "2",
        "name": POOL,
        **{f"/nodes/{{node_id}}/{tab} node_id": NODE for tab in _TABS},
    }


def routing(number: int) -> dict[str, Any]:
    """Routing facts of a node."""
    return {
        "asn": 4242429900,
        "number": number,
        "loopback4": f"172.20.99.{number}",
        "loopback6": f"fd42:9900::{number}",
        "prefixes4": ["172.20.99.0/26"],
        "prefixes6": ["fd42:9900::/48"],
        "endpoint": f"r{number}.loom.example",
    }


def peering(name: str, asn: int) -> dict[str, Any]:
    """A peering of the first node, whose prefixes the registry says."""
    return {
        "node_id": NODE,
        "name": name,
        "asn": asn,
        "link": {"kind": "wireguard", "peer_public_key": KEY, "endpoint": f"{name}.example:51820"},
        "session": {"neighbor6": f"fe80::{asn % 10_000}"},
        "registry_filter": {},
    }
