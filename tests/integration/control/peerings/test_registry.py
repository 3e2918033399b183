"""The registry beside a peering: facts on the form, ownership of prefixes, and filters that follow it."""

from __future__ import annotations

from typing import Any

import pytest

from control_server.desired_state.tasks import follow_registry
from tests.integration.control.conftest import signed_in
from tests.integration.control.enrolment.office import Office
from tests.integration.control.fleet.yard import PEER_KEY, match, newest, peering, routed, wanted
from tests.integration.control.peerings.registry import SpokenRegistry, connect

FOO, BAR = 4242429801, 4242429802


@pytest.fixture
def registry(lite: Office) -> SpokenRegistry:
    spoken = SpokenRegistry({FOO: "FOO", BAR: "BAR"}, sets={"AS-FOO": [FOO, BAR]})
    spoken.allow(FOO, "172.20.16.0/27", "fd42:16::/48")
    spoken.allow(BAR, "172.20.17.0/27", longest=29)
    connect(lite, spoken)
    return spoken


async def taken(office: Office, node: str, name: str = "f") -> list[tuple[str, int, int]] | None:
    """What the published filter of a peering lets through."""
    peerings = (await newest(office, node))["state"]["peerings"]
    (found,) = [entry for entry in peerings if entry["name"] == name]
    listed = found["session"]["policy"]["prefix_list"]
    if listed is None:
        return None
    return [(entry["prefix"], entry["shortest"], entry["longest"]) for entry in listed]


async def follow(office: Office) -> None:
    await follow_registry(office.app.state.publishing)


async def test_a_network_is_described(lite: Office, registry: SpokenRegistry) -> None:
    found = await wanted(lite, "GET", f"/api/v1/neighbours/{FOO}")
    assert (found["known"], found["as_name"], found["mntners"]) == ("yes", "FOO", ["FOO-MNT"])
    assert found["contacts"] == ["FOO-DN42"]
    assert [route["prefix"] for route in found["routes"]] == ["172.20.16.0/27", "fd42:16::/48"]
    assert (await wanted(lite, "GET", "/api/v1/neighbours/4242429803"))["known"] == "no"
    registry.status = 503
    away = await wanted(lite, "GET", f"/api/v1/neighbours/{FOO}")
    assert (away["known"], away["routes_known"]) == ("away", False)


@pytest.mark.parametrize("body", [b"<html>", b"[]", b'{"routes": 7}', b"x" * 5_000_000])
async def test_an_answer_that_cannot_be_used_is_as_none(
    lite: Office, registry: SpokenRegistry, body: bytes
) -> None:
    registry.body = body
    assert (await wanted(lite, "GET", f"/api/v1/neighbours/{FOO}"))["known"] == "away"


async def test_prefixes_are_held_against_the_registry(lite: Office, registry: SpokenRegistry) -> None:
    prefixes = ["172.20.16.0/27", "172.20.16.0/28", "172.20.18.0/27", "fd42:16::/48"]
    path = f"/api/v1/neighbours/{FOO}/prefixes"
    found = await wanted(lite, "GET", path, params={"prefix": prefixes})
    assert [item["verdict"] for item in found["items"]] == ["yes", "no", "no", "yes"]
    assert found["items"][0]["mnt_by"] == ["FOO-MNT"]
    within = await wanted(
        lite, "GET", f"/api/v1/neighbours/{BAR}/prefixes", params={"prefix": ["172.20.17.8/29"]}
    )
    assert within["items"][0]["verdict"] == "yes"
    registry.status = 503
    away = await wanted(lite, "GET", path, params={"prefix": prefixes})
    assert {item["verdict"] for item in away["items"]} == {"away"}
    refused = await lite.admin.get(path, params={"prefix": "172.20.16.1/27"})
    assert refused.status_code == 422


async def test_a_filter_is_made_of_route_objects_and_follows_them(
    lite: Office, registry: SpokenRegistry
) -> None:
    node, _ = await routed(lite, 1)
    body = peering(node, registry_filter={})
    preview = await wanted(lite, "POST", "/api/v1/peerings?preview=true", json=body)
    assert "172.20.16.0/27" in str(preview["nodes"][0]["files"])
    made = await wanted(lite, "POST", "/api/v1/peerings", json=body)
    assert await taken(lite, node) == [("172.20.16.0/27", 27, 27), ("fd42:16::/48", 48, 48)]
    await follow(lite)
    assert (await newest(lite, node))["number"] == 2
    registry.allow(FOO, "172.20.16.0/27", "172.20.19.0/26")
    await follow(lite)
    assert await taken(lite, node) == [("172.20.16.0/27", 27, 27), ("172.20.19.0/26", 26, 26)]
    assert f"AS{FOO} may originate" in (await newest(lite, node))["reason"]
    path = f"/api/v1/peerings/{made['id']}"
    off = await wanted(lite, "PATCH", path, json={"registry_filter": None}, headers=match(made["version"]))
    assert off["registry_filter"] is None
    assert await taken(lite, node) is None


async def test_an_as_set_is_what_its_members_may_originate(lite: Office, registry: SpokenRegistry) -> None:
    assert registry.sets
    node, _ = await routed(lite, 1)
    made = await wanted(lite, "POST", "/api/v1/peerings", json=peering(node))
    change: dict[str, Any] = {"registry_filter": {"as_set": "as-foo"}}
    path = f"/api/v1/peerings/{made['id']}"
    changed = await wanted(lite, "PATCH", path, json=change, headers=match(made["version"]))
    assert changed["registry_filter"] == {"as_set": "AS-FOO"}
    assert await taken(lite, node) == [
        ("172.20.16.0/27", 27, 27),
        ("172.20.17.0/27", 27, 29),
        ("fd42:16::/48", 48, 48),
    ]


async def test_nothing_passes_before_the_registry_has_spoken_and_nothing_is_lost_when_it_goes(
    lite: Office, registry: SpokenRegistry
) -> None:
    registry.status = 503
    node, _ = await routed(lite, 1)
    made = await wanted(lite, "POST", "/api/v1/peerings", json=peering(node, registry_filter={}))
    assert await taken(lite, node) == []
    headers = await signed_in(lite)
    page = (await lite.outside.get(f"/peerings/{made['id']}", headers=headers)).text
    assert "nothing is taken until it does" in page
    registry.status = 200
    await follow(lite)
    kept = await taken(lite, node)
    assert kept == [("172.20.16.0/27", 27, 27), ("fd42:16::/48", 48, 48)]
    registry.status = 503
    await follow(lite)
    assert await taken(lite, node) == kept
    page = (await lite.outside.get(f"/peerings/{made['id']}", headers=headers)).text
    assert "what it told last stays" in page


async def test_the_wizard_shows_whom_it_is_about(lite: Office, registry: SpokenRegistry) -> None:
    node, _ = await routed(lite, 1)
    await wanted(lite, "POST", "/api/v1/peerings", json=peering(node))
    headers = await signed_in(lite)
    path = f"/nodes/{node}/peerings/new?asn=AS{FOO}"
    page = (await lite.outside.get(path, headers=headers)).text
    for text in ("FOO-MNT", "172.20.16.0/27", "Registered", "Peers with us", "fe80::9801"):
        assert text in page
    unknown = (await lite.outside.get(f"/nodes/{node}/peerings/new?asn=AS4242429803", headers=headers)).text
    assert "Not registered" in unknown
    registry.status = 503
    away = (await lite.outside.get(path, headers=headers)).text
    assert "The registry does not answer now" in away


async def test_a_secret_of_the_wizard_comes_back_sealed_alone(lite: Office, registry: SpokenRegistry) -> None:
    assert registry.names
    node, _ = await routed(lite, 1)
    headers = await signed_in(lite)
    secret = "c2VjcmV0c2VjcmV0c2VjcmV0c2VjcmV0c2VjcmV0ISE="
    typed = {
        "asn": f"AS{FOO}",
        "pasted": f"[Peer]\nPublicKey = {PEER_KEY}\nEndpoint = f.example:20099\n",
        "registry_filter": "origin",
        "import_limit": "",
        "preshared_key": secret,
    }
    path = f"/nodes/{node}/peerings/new"
    last = await lite.outside.post(f"{path}?preview=true", data=typed, headers=headers)
    assert last.status_code == 200, last.text
    assert secret not in last.text
    assert "172.20.16.0/27" in last.text
    sealed = last.text.split('name="sealed_key" value="')[1].split('"')[0]
    again = {**typed, "preshared_key": "", "sealed_key": sealed, "neighbor6": "fe80::9801"}
    made = await lite.outside.post(path, data=again, headers=headers)
    assert made.status_code == 303, made.text
    (kept,) = (await wanted(lite, "GET", f"/api/v1/peerings?node_id={node}"))["items"]
    assert kept["has_preshared_key"] is True
    assert kept["link"]["endpoint"] == "f.example:20099"
    assert kept["session"]["policy"]["quality"]["crypto"] == 35
    assert kept["session"]["policy"]["import_limit"]["prefixes"] == 20
    assert kept["description"] == "FOO"
