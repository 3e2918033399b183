"""Generations: what follows from facts, how they differ, the way back, and a look before publishing."""

from __future__ import annotations

import asyncio
from dataclasses import replace

from control_server.desired_state.dependencies import Publishing
from shared.protocol.desired_state.document import PublishedState
from tests.integration.control.enrolment.office import Office
from tests.integration.control.fleet.yard import agent_token, match, newest, peering, routed, wanted


async def test_a_link_gives_both_ends_their_half(on_each_database: Office) -> None:
    office = on_each_database
    await routed(office, 1)
    await routed(office, 2)
    await wanted(office, "POST", "/api/v1/links", json={"node_a": "r2", "node_b": "r1", "cost": 30})
    one, two = [(await newest(office, node))["state"] for node in ("r1", "r2")]
    assert [link["interface"] for link in one["links"]] == ["wg-r2"]
    assert one["links"][0]["endpoint"] == f"r2.example:{two['links'][0]['listen_port']}"
    assert one["links"][0]["addresses"][1] == {"address": "172.20.99.1/32", "peer": "172.20.99.2"}
    assert one["igp"]["interfaces"][0] == {**one["igp"]["interfaces"][0], "interface": "wg-r2", "cost": 30}
    assert [n["name"] for n in one["ibgp"]["neighbors"]] == ["r2"]
    assert [n["name"] for n in two["ibgp"]["neighbors"]] == ["r1"]


async def test_renumbering_a_loopback_publishes_for_whoever_speaks_with_it(on_each_database: Office) -> None:
    office = on_each_database
    for number in (1, 2, 3):
        await routed(office, number)
    facts = await wanted(office, "GET", "/api/v1/nodes/r1/facts")
    change = {"routing": {"loopback6": "fd42:9900::aa"}}
    await wanted(office, "PATCH", "/api/v1/nodes/r1", json=change, headers=match(facts["version"]))
    for node in ("r2", "r3"):
        state = (await newest(office, node))["state"]
        assert "fd42:9900::aa" in {n["address"] for n in state["ibgp"]["neighbors"]}
    taken = await office.admin.patch("/api/v1/nodes/r2", json=change, headers=match(1))
    assert (taken.status_code, taken.json()["errors"][0]["field"]) == (409, "routing.loopback6")
    assert "node:r1" in taken.json()["detail"]


async def test_pools_give_out_once_under_load(on_each_database: Office) -> None:
    office = on_each_database
    for name, kind, reach in (
        ("four", "loopback4", "172.20.99.0/26"),
        ("six", "loopback6", "fd42:9900::/120"),
        ("numbers", "node_number", "1-99"),
    ):
        await wanted(office, "POST", "/api/v1/pools", json={"name": name, "kind": kind, "range": reach})

    # Nobody speaks with anybody, so that each new node is one generation.
    alone = {"inside": {"ibgp": "off", "igp": "off"}}
    await wanted(office, "PUT", "/api/v1/policy", json=alone, headers=match(0))

    async def create(index: int) -> dict[str, str]:
        body = {"node_id": f"n{index}", "routing": {"asn": 4242429900}}
        await wanted(office, "POST", "/api/v1/nodes", json=body)
        facts = await wanted(office, "GET", f"/api/v1/nodes/n{index}/facts")
        routing: dict[str, str] = facts["routing"]
        return routing

    made = await asyncio.gather(*(create(index) for index in range(50)))
    for name in ("loopback4", "loopback6", "number"):
        assert len({routing[name] for routing in made}) == 50
    pools = await wanted(office, "GET", "/api/v1/pools")
    assert {pool["used"] for pool in pools["items"]} == {50}
    in_use = await office.admin.delete("/api/v1/pools/four")
    assert (in_use.status_code, in_use.json()["code"]) == (409, "pool_in_use")


async def test_a_rollback_brings_the_facts_back(on_each_database: Office) -> None:
    office = on_each_database
    node, _ = await routed(office, 1)
    made = await wanted(office, "POST", "/api/v1/peerings", json=peering(node))
    good = await newest(office, node)
    path = f"/api/v1/peerings/{made['id']}"
    change = {"session": {"policy": {"prepend": 3}}}
    await wanted(office, "PATCH", path, json=change, headers=match(1))
    second = await wanted(office, "POST", "/api/v1/peerings", json=peering(node, "g", asn=4242429803))
    await wanted(office, "POST", f"/api/v1/nodes/{node}/generations/{good['number']}/rollback")
    after = await newest(office, node)
    assert (after["sha256"], after["number"]) == (good["sha256"], good["number"] + 3)
    assert after["reason"] == f"rolled back to generation {good['number']}"
    assert (await wanted(office, "GET", path))["session"]["policy"]["prepend"] == 0
    assert (await office.admin.get(f"/api/v1/peerings/{second['id']}")).status_code == 404
    version = (await wanted(office, "GET", path))["version"]
    await wanted(office, "PATCH", path, json={"description": "edge"}, headers=match(version))
    assert (await newest(office, node))["state"]["peerings"][0]["session"]["policy"]["prepend"] == 0


async def test_a_preview_changes_nothing_and_shows_everything(on_each_database: Office) -> None:
    office = on_each_database
    node, _ = await routed(office, 1)
    before = await newest(office, node)
    shown = await wanted(office, "POST", "/api/v1/peerings?preview=true", json=peering(node))
    change = shown["nodes"][0]
    assert (change["node_id"], change["generation"]) == (node, before["number"] + 1)
    assert "peerings" in {entry["path"].split(".")[0] for entry in change["changes"]}
    assert "peers/f.conf" in {entry["path"] for entry in change["files"]}
    kept = await office.admin.get(f"/api/v1/previews/{shown['preview_id']}/files/nodes/{node}/peers/f.conf")
    assert "protocol bgp rl_f from rl_ebgp" in kept.text
    assert await newest(office, node) == before
    assert (await wanted(office, "GET", "/api/v1/peerings"))["total"] == 0
    pools = await office.admin.get("/api/v1/audit")
    assert "peering.created" not in pools.text
    made = await wanted(office, "POST", "/api/v1/peerings", json=peering(node))
    path = f"/api/v1/peerings/{made['id']}"
    gone = await wanted(office, "DELETE", f"{path}?preview=true")
    assert {entry["path"] for entry in gone["nodes"][0]["files"]} >= {"peers/f.conf", "main.conf"}
    assert (await office.admin.get(path)).status_code == 200


async def test_the_difference_is_by_name_and_by_file(on_each_database: Office) -> None:
    office = on_each_database
    node, _ = await routed(office, 1)
    await wanted(office, "POST", "/api/v1/peerings", json=peering(node, "g", asn=4242429803))
    await wanted(office, "POST", "/api/v1/peerings", json=peering(node, "a"))
    found = await wanted(office, "GET", f"/api/v1/nodes/{node}/generations/3/diff")
    # The new one comes first in its list, and yet the other has not changed.
    assert {entry["path"] for entry in found["changes"]} == {"peerings.a", "links.wg-a"}
    assert {entry["path"] for entry in found["files"]} == {"main.conf", "peers/a.conf", "links/wg-a.conf"}


async def test_maintenance_drains_and_ends(on_each_database: Office) -> None:
    office = on_each_database
    node, _ = await routed(office, 1)
    path = f"/api/v1/nodes/{node}/maintenance"
    begun = await wanted(office, "PUT", path, json={"reason": "new disks"})
    assert (begun["maintenance"]["reason"], begun["maintenance"]["by"]) == ("new disks", "local-admin")
    assert (await newest(office, node))["state"]["node"]["draining"] is True
    assert (await wanted(office, "GET", f"/api/v1/nodes/{node}"))["maintenance"]["reason"] == "new disks"
    await wanted(office, "DELETE", path)
    assert (await newest(office, node))["state"]["node"]["draining"] is False


async def test_a_node_is_deleted_only_when_it_routes_no_more(on_each_database: Office) -> None:
    office = on_each_database
    node, _ = await routed(office, 1)
    path = f"/api/v1/nodes/{node}"
    early = await office.admin.delete(path)
    assert (early.status_code, early.json()["code"]) == (409, "node_in_use")
    facts = await wanted(office, "GET", f"{path}/facts")
    over = {"lifecycle": "decommissioned"}
    await wanted(office, "PATCH", path, json=over, headers=match(facts["version"]))
    assert (await newest(office, node))["state"]["routing"] is False
    assert (await office.admin.delete(path)).status_code == 204
    assert (await office.admin.get(path)).status_code == 404


async def test_the_fleets_policy_reaches_every_node(on_each_database: Office) -> None:
    office = on_each_database
    for number in (1, 2):
        await routed(office, number)
    policy = await wanted(office, "GET", "/api/v1/policy")
    assert policy["version"] == 0
    body = {"policy": {"max_path": 12}, "inside": {"ibgp": "reflector", "reflectors": ["r1"]}}
    written = await wanted(office, "PUT", "/api/v1/policy", json=body, headers=match(0))
    assert written["version"] == 1
    one, two = [(await newest(office, node))["state"] for node in ("r1", "r2")]
    assert (one["policy"]["max_path"], two["policy"]["max_path"]) == (12, 12)
    assert (one["ibgp"]["mode"], one["ibgp"]["neighbors"][0]["rr_client"]) == ("reflector", True)
    assert two["ibgp"]["mode"] == "full_mesh"
    stale = await office.admin.put("/api/v1/policy", json=body, headers=match(0))
    assert (stale.status_code, stale.json()["code"]) == (409, "fact_changed")


async def test_the_doorbell_rings_after_the_commit(lite: Office) -> None:
    office = lite
    rung: list[tuple[str, int]] = []

    async def heard(node_id: str, generation: int) -> None:
        # What is rung for can be read by whoever comes running.
        assert (await newest(office, node_id))["number"] == generation
        rung.append((node_id, generation))

    publishing: Publishing = office.app.state.publishing
    office.app.state.publishing = replace(publishing, ring=heard)
    node, _ = await routed(office, 1)
    refused = await office.admin.post("/api/v1/peerings", json=peering(node, "own4"))
    assert refused.status_code == 422
    await wanted(office, "POST", "/api/v1/peerings", json=peering(node))
    assert rung == [(node, 1), (node, 2)]


async def test_what_is_pulled_proves_itself(on_each_database: Office) -> None:
    office = on_each_database
    node, _ = await routed(office, 1)
    found = await newest(office, node)
    state = {"generation": found["number"], "sha256": found["sha256"], "state": found["state"]}
    assert PublishedState.model_validate(state).generation == 1


async def test_agents_that_pull_at_once_take_no_connection_from_each_other(on_each_database: Office) -> None:
    office = on_each_database
    node_id, _ = await routed(office, 1)
    headers = {"Authorization": f"Bearer {await agent_token(office, node_id)}"}
    pulls = [office.outside.get("/api/v1/agent/desired-state", headers=headers) for _ in range(24)]
    assert [answer.status_code for answer in await asyncio.gather(*pulls)] == [200] * 24
