"""What operators type who are in a hurry: it is refused by name, or it works; it never breaks the fleet."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from tests.integration.control.conftest import signed_in
from tests.integration.control.enrolment.office import Office
from tests.integration.control.fleet.yard import OURS, PEER_KEY, match, newest, peering, routed, wanted

PLAIN: dict[str, Any] = {"kind": "plain", "interface": "eth9"}


async def refused(office: Office, method: str, path: str, **more: Any) -> tuple[int, str, list[str]]:
    """Status, code and the fields that are named."""
    answer = await office.admin.request(method, f"/api/v1{path}", **more)
    said = answer.json()
    assert answer.status_code >= 400, said
    return answer.status_code, said["code"], [error["field"] for error in said["errors"]]


NAMES = ("", "..", "Upper", "a" * 64, "a/b", "ü", "a-", "-a", "a.b", "a_b", "x'y", "a b", "a\n")


@pytest.mark.parametrize("name", NAMES)
async def test_a_node_has_a_name_that_every_place_takes(lite: Office, name: str) -> None:
    told = await refused(lite, "POST", "/nodes", json={"node_id": name})
    assert told == (422, "invalid_input", ["node_id"])


FACTS: dict[str, Any] = {
    "router_id": "0.0.0.0",  # noqa: S104 - an address that names nobody
    "loopback4": "224.0.0.1",
    "loopback6": "fe80::5",
    "link_local": "2001:db8::1",
    "endpoint": ":::",
    "hostname": "-/-",
    "prefixes4": ["0.0.0.0/0"],
    "prefixes6": ["::/0"],
}


@pytest.mark.parametrize("fact", FACTS)
async def test_facts_that_no_router_can_have_are_refused(lite: Office, fact: str) -> None:
    node, _ = await routed(lite, 1)
    version = (await wanted(lite, "GET", f"/api/v1/nodes/{node}/facts"))["version"]
    change = {"json": {"routing": {fact: FACTS[fact]}}, "headers": match(version)}
    status, code, fields = await refused(lite, "PATCH", f"/nodes/{node}", **change)
    assert (status, code) == (422, "invalid_input")
    assert fields[0].startswith(f"routing.{fact}")


@pytest.mark.parametrize("endpoint", ["r1.example", "2001:db8::1", "192.0.2.7", "r1-x.example.", ""])
async def test_an_endpoint_is_a_name_or_an_address_of_either_family(lite: Office, endpoint: str) -> None:
    node, _ = await routed(lite, 1, endpoint=endpoint)
    made = await wanted(lite, "POST", "/api/v1/peerings", json=peering(node))
    told = (await wanted(lite, "GET", f"/api/v1/peerings/{made['id']}/other-side"))["endpoint"]
    written = f"[{endpoint}]:29801" if ":" in endpoint else f"{endpoint}:29801"
    assert told == (written if endpoint else None)


async def test_a_node_of_ipv6_alone_peers_and_needs_a_router_id(lite: Office) -> None:
    routing = {"asn": OURS, "number": 9, "loopback6": "fd42:9900::9", "prefixes6": ["fd42:9900::/48"]}
    bare = {"node_id": "six", "routing": routing}
    assert (await refused(lite, "POST", "/nodes", json=bare))[1:] == ("state_invalid", ["router_id"])
    await wanted(
        lite, "POST", "/api/v1/nodes", json={**bare, "routing": {**routing, "router_id": "172.20.99.9"}}
    )
    await wanted(lite, "POST", "/api/v1/peerings", json=peering("six"))
    assert [each["name"] for each in (await newest(lite, "six"))["state"]["peerings"]] == ["f"]


async def test_a_neighbour_is_somebody_else(lite: Office) -> None:
    node, _ = await routed(lite, 1)
    own_asn = peering(node, "mine", asn=OURS)
    assert await refused(lite, "POST", "/peerings", json=own_asn) == (422, "invalid_input", ["asn"])
    for field, address in (
        ("neighbor6", "fe80::1"),
        ("neighbor6", "fd42:9900::1"),
        ("neighbor4", "172.20.99.1"),
    ):
        body = peering(node, session={field: address})
        told = await refused(lite, "POST", "/peerings", json=body)
        assert told == (422, "invalid_input", [f"session.{field}"])
    headers = {**await signed_in(lite), "Accept": "text/html"}
    typed = {"asn": f"AS{OURS}", "public_key": PEER_KEY, "endpoint": "f.example:20099"}
    page = await lite.outside.post(f"/nodes/{node}/peerings/new", data=typed, headers=headers)
    assert page.status_code == 422
    assert "own nodes are joined by a link" in page.text
    made = await wanted(lite, "POST", "/api/v1/peerings", json=peering(node))
    change = {"json": {"session": {"neighbor6": "fe80::1"}}, "headers": match(1)}
    assert (await refused(lite, "PATCH", f"/peerings/{made['id']}", **change))[0] == 422


@pytest.mark.parametrize("interface", ["lo", "rl-dns"])
async def test_a_link_is_no_interface_of_the_node_s_own(lite: Office, interface: str) -> None:
    node, _ = await routed(lite, 1)
    body = peering(node, link={"kind": "plain", "interface": interface})
    told = await refused(lite, "POST", "/peerings", json=body)
    assert told == (422, "invalid_input", ["link.plain.interface"])


async def test_names_that_begin_alike_have_interfaces_of_their_own(lite: Office) -> None:
    node, _ = await routed(lite, 1)
    for number in (1, 2):
        await wanted(
            lite,
            "POST",
            "/api/v1/nodes",
            json={"node_id": f"frankfurt-core-{number}", "routing": facts(number)},
        )
        link = {"node_a": node, "node_b": f"frankfurt-core-{number}"}
        await wanted(lite, "POST", "/api/v1/links", json=link)
        body = peering(node, f"a_long_name_of_peer_{number}", asn=4242429810 + number)
        await wanted(lite, "POST", "/api/v1/peerings", json=body)
    found = [each["interface"] for each in (await newest(lite, node))["state"]["links"]]
    # Of a link, this end is the second one: the other nodes' names come first.
    found += [each["interface_b"] for each in (await wanted(lite, "GET", "/api/v1/links"))["items"]]
    assert len(set(found)) == 4
    assert all(len(name) <= 15 for name in found)


def facts(number: int) -> dict[str, Any]:
    return {
        "asn": OURS,
        "number": 10 + number,
        "loopback4": f"172.20.99.{10 + number}",
        "loopback6": f"fd42:9900::1{number}",
    }


async def test_a_peering_changes_from_a_tunnel_to_a_cable_and_back(lite: Office) -> None:
    node, _ = await routed(lite, 1)
    made = await wanted(lite, "POST", "/api/v1/peerings", json=peering(node))
    path = f"/api/v1/peerings/{made['id']}"
    plain = await wanted(lite, "PATCH", path, json={"link": PLAIN}, headers=match(1))
    assert plain["link"] == {**PLAIN, "addresses": [], "mtu": None}
    # Its port is free for somebody else.
    other = peering(
        node, "g", asn=4242429802, link={**made["link"], "interface": "wg-g", "listen_port": 29801}
    )
    await wanted(lite, "POST", "/api/v1/peerings", json=other)
    back = {key: made["link"][key] for key in ("kind", "peer_public_key", "endpoint")}
    assert (await refused(lite, "PATCH", path[7:], json={"link": back}, headers=match(2)))[0] == 409
    again = await wanted(lite, "PATCH", path, json={"link": {**back, "listen_port": 29899}}, headers=match(2))
    assert (again["link"]["kind"], again["link"]["listen_port"]) == ("wireguard", 29899)


@pytest.mark.parametrize("tag", [None, "*", "1", '"x"', '"99999999999"'])
async def test_nothing_is_changed_by_who_has_read_nothing(lite: Office, tag: str | None) -> None:
    node, _ = await routed(lite, 1)
    made = await wanted(lite, "POST", "/api/v1/peerings", json=peering(node))
    headers = {} if tag is None else {"If-Match": tag}
    for path in (f"/peerings/{made['id']}", f"/nodes/{node}"):
        told = await refused(lite, "PATCH", path, json={"description": "x"}, headers=headers)
        assert told[:2] == (428, "version_missing")


async def test_who_has_read_nothing_is_told_where_to_read_it(lite: Office) -> None:
    node, _ = await routed(lite, 1)
    other, _ = await routed(lite, 2)
    made = await wanted(lite, "POST", "/api/v1/peerings", json=peering(node))
    link = await wanted(lite, "POST", "/api/v1/links", json={"node_a": node, "node_b": other})
    pool = {"name": "ports", "kind": "wireguard_port", "range": "51820-51821"}
    await wanted(lite, "POST", "/api/v1/pools", json=pool)
    for method, path, body in (
        ("PATCH", f"/api/v1/nodes/{node}", {"description": "x"}),
        ("PATCH", f"/api/v1/peerings/{made['id']}", {"description": "x"}),
        ("PATCH", f"/api/v1/links/{link['id']}", {"enabled": True}),
        ("PATCH", "/api/v1/pools/ports", {"range": "51820-51830"}),
        ("PUT", "/api/v1/policy", {}),
    ):
        missing = await lite.admin.request(method, path, json=body)
        problem = missing.json()
        assert (missing.status_code, problem["title"], problem["header"]) == (
            428,
            "Precondition Required",
            "If-Match",
        ), path
        assert f"GET {problem['read_at']}" in problem["detail"]
        read = await lite.admin.get(problem["read_at"])
        written = await lite.admin.request(
            method, path, json=body, headers={"If-Match": read.headers["etag"]}
        )
        assert written.status_code == 200, written.text


async def test_the_interface_says_that_a_version_is_required(lite: Office) -> None:
    described = (await lite.admin.get("/openapi.json")).json()["paths"]
    conditional = [
        operation
        for methods in described.values()
        for operation in methods.values()
        if any(parameter["name"].lower() == "if-match" for parameter in operation.get("parameters", []))
    ]
    assert len(conditional) == 5
    assert all({"409", "428"} <= operation["responses"].keys() for operation in conditional)


async def test_what_is_in_use_is_not_deleted(lite: Office) -> None:
    node, _ = await routed(lite, 1)
    pool = {"name": "ports", "kind": "wireguard_port", "range": "51820-51821"}
    await wanted(lite, "POST", "/api/v1/pools", json=pool)
    await wanted(lite, "POST", "/api/v1/peerings", json=peering(node))
    assert (await refused(lite, "DELETE", "/pools/ports"))[:2] == (409, "pool_in_use")
    assert (await refused(lite, "DELETE", f"/nodes/{node}"))[:2] == (409, "node_in_use")


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("wireguard_port", "1-0"),
        ("wireguard_port", "0-70000"),
        ("loopback4", "10.0.0.0/8"),
        ("loopback6", "x"),
    ],
)
async def test_a_range_that_is_none_is_said_at_its_field(lite: Office, kind: str, text: str) -> None:
    body = {"name": "odd", "kind": kind, "range": text}
    assert await refused(lite, "POST", "/pools", json=body) == (422, "invalid_input", ["range"])


async def test_a_decommissioned_node_gets_nothing_new_until_it_is_back(lite: Office) -> None:
    node, _ = await routed(lite, 1)
    other, _ = await routed(lite, 2)
    await wanted(lite, "POST", "/api/v1/peerings", json=peering(node))
    whole = await newest(lite, node)
    version = (await wanted(lite, "GET", f"/api/v1/nodes/{node}/facts"))["version"]
    gone = {"json": {"lifecycle": "decommissioned"}, "headers": match(version)}
    await wanted(lite, "PATCH", f"/api/v1/nodes/{node}", **gone)
    late = peering(node, "late", asn=4242429833)
    assert (await refused(lite, "POST", "/peerings", json=late))[:2] == (409, "node_routes_nothing")
    link = {"node_a": node, "node_b": other}
    assert (await refused(lite, "POST", "/links", json=link))[:2] == (409, "node_routes_nothing")
    empty = await newest(lite, node)
    # A way back is no way around the decision that the node is to go.
    way_back = f"/api/v1/nodes/{node}/generations/{whole['number']}/rollback"
    assert (await refused(lite, "POST", way_back[7:]))[:2] == (409, "rollback_refused")
    assert (await refused(lite, "POST", f"{way_back[7:]}?preview=true"))[:2] == (409, "rollback_refused")
    assert await newest(lite, node) == empty
    assert (await wanted(lite, "GET", f"/api/v1/nodes/{node}/facts"))["lifecycle"] == "decommissioned"
    alive = {"json": {"lifecycle": "active"}, "headers": match(version + 1)}
    await wanted(lite, "PATCH", f"/api/v1/nodes/{node}", **alive)
    await wanted(lite, "POST", way_back)
    back = await newest(lite, node)
    assert (back["state"]["routing"], back["state"]["peerings"]) == (True, whole["state"]["peerings"])
    await wanted(lite, "POST", "/api/v1/peerings", json=late)
    # Nor does it withdraw all of a node that lives.
    way_down = f"/nodes/{node}/generations/{empty['number']}/rollback"
    assert (await refused(lite, "POST", way_down))[:2] == (409, "rollback_refused")


async def test_two_who_take_one_name_at_once_are_told_so(lite: Office) -> None:
    node, _ = await routed(lite, 1)
    body = peering(node)
    answers = await asyncio.gather(*(lite.admin.post("/api/v1/peerings", json=body) for _ in range(4)))
    assert sorted(answer.status_code for answer in answers) == [201, 409, 409, 409]


@pytest.mark.parametrize("until", ["0001-01-01T00:00", "2030-01-02T03:04"])
async def test_a_maintenance_ends_later_than_it_begins(lite: Office, until: str) -> None:
    node, _ = await routed(lite, 1)
    told = await refused(lite, "PUT", f"/nodes/{node}/maintenance", json={"until": f"{until}:00Z"})
    assert told == (422, "invalid_input", ["until"])
    assert (await refused(lite, "PUT", f"/nodes/{node}/maintenance", json={"until": f"{until}:00"}))[0] == 422
    headers = {**await signed_in(lite), "Accept": "text/html"}
    form = {"reason": "disks", "until": until}
    page = await lite.outside.post(f"/nodes/{node}/maintenance", data=form, headers=headers)
    assert page.status_code == 422


async def test_a_form_that_lost_its_fields_is_no_crash(lite: Office) -> None:
    node, _ = await routed(lite, 1)
    made = await wanted(lite, "POST", "/api/v1/peerings", json=peering(node))
    headers = {**await signed_in(lite), "Accept": "text/html"}
    for path in (
        *(f"/peerings/{made['id']}", f"/peerings/{made['id']}/enabled", "/policy", "/links/new", "/pools"),
        *(f"/nodes/{node}/settings", f"/nodes/{node}/lifecycle", f"/nodes/{node}/peerings/new"),
    ):
        page = await lite.outside.post(path, data={}, headers=headers)
        assert page.status_code in {409, 422}, path
    kept = await wanted(lite, "GET", f"/api/v1/peerings/{made['id']}")
    assert kept == made


async def test_a_preview_of_whatever_is_written_changes_nothing(lite: Office) -> None:
    node, _ = await routed(lite, 1)
    spare, _ = await routed(lite, 2)
    version = (await wanted(lite, "GET", f"/api/v1/nodes/{spare}/facts"))["version"]
    gone = {"json": {"lifecycle": "decommissioned"}, "headers": match(version)}
    await wanted(lite, "PATCH", f"/api/v1/nodes/{spare}", **gone)
    before = await everything(lite)
    routing = {"asn": OURS, "number": 3, "loopback4": "172.20.99.3", "loopback6": "fd42:9900::3"}
    for method, path, body in (
        ("POST", "/nodes", {"node_id": "late", "routing": routing}),
        ("PUT", f"/nodes/{node}/maintenance", {"reason": "disks"}),
        ("DELETE", f"/nodes/{node}/maintenance", None),
        ("DELETE", f"/nodes/{spare}", None),
        ("POST", "/peerings", peering(node)),
        ("POST", f"/nodes/{node}/generations/1/rollback", None),
    ):
        answer = await wanted(lite, method, f"/api/v1{path}?preview=true", json=body)
        assert {"preview_id", "nodes"} <= answer.keys(), path
        assert await everything(lite) == before, path
    headers = {**await signed_in(lite), "Accept": "text/html"}
    await lite.outside.post(f"/nodes/{node}/maintenance?preview=true", data={}, headers=headers)
    assert await everything(lite) == before
    await wanted(lite, "PUT", f"/api/v1/nodes/{node}/maintenance", json={"reason": "disks"})
    assert (await newest(lite, node))["state"]["node"]["draining"] is True


async def everything(office: Office) -> list[Any]:
    paths = ("/nodes", "/peerings", "/nodes/r1/facts", "/nodes/r2/facts", "/nodes/r1/generations")
    return [await wanted(office, "GET", f"/api/v1{path}") for path in paths]


async def test_every_route_that_offers_a_preview_answers_one(lite: Office) -> None:
    for path, operations in lite.app.openapi()["paths"].items():
        for method, operation in operations.items():
            offered = any(each["name"] == "preview" for each in operation.get("parameters", ()))
            if offered and method != "get":
                assert "ChangePreview" in str(operation["responses"]), f"{method} {path}"
