"""Peerings: added whole, published in the same transaction, withdrawn at once."""

from __future__ import annotations

import asyncio
import base64

from nacl.public import SealedBox

from tests.integration.control.enrolment.office import Office
from tests.integration.control.fleet.yard import match, newest, peering, routed, wanted

PRESHARED = base64.b64encode(b"a preshared key of thirty-two b.").decode()


async def test_a_peering_brings_its_tunnel_and_its_session(on_each_database: Office) -> None:
    office = on_each_database
    node, _ = await routed(office, 1)
    made = await wanted(office, "POST", "/api/v1/peerings", json=peering(node))
    assert (made["link"]["interface"], made["link"]["listen_port"]) == ("wg-f", 29801)
    state = (await newest(office, node))["state"]
    assert [link["interface"] for link in state["links"]] == ["wg-f"]
    session = state["peerings"][0]["session"]
    assert (session["interface"], session["source6"], session["neighbor6"]) == (
        "wg-f",
        "fe80::1",
        "fe80::801",
    )


async def test_a_peering_that_is_disabled_is_withdrawn_and_comes_back(on_each_database: Office) -> None:
    office = on_each_database
    node, _ = await routed(office, 1)
    made = await wanted(office, "POST", "/api/v1/peerings", json=peering(node))
    path = f"/api/v1/peerings/{made['id']}"
    off = await wanted(office, "PATCH", path, json={"enabled": False}, headers=match(1))
    assert (await newest(office, node))["state"]["peerings"] == []
    await wanted(office, "PATCH", path, json={"enabled": True}, headers=match(off["version"]))
    assert [p["name"] for p in (await newest(office, node))["state"]["peerings"]] == ["f"]
    gone = await office.admin.delete(path)
    assert gone.status_code == 204
    state = (await newest(office, node))["state"]
    assert (state["peerings"], state["links"]) == ([], [])


async def test_a_change_that_alters_nothing_is_no_generation(on_each_database: Office) -> None:
    office = on_each_database
    node, _ = await routed(office, 1)
    made = await wanted(office, "POST", "/api/v1/peerings", json=peering(node))
    before = await newest(office, node)
    path = f"/api/v1/peerings/{made['id']}"
    await wanted(office, "PATCH", path, json={"description": ""}, headers=match(1))
    assert await newest(office, node) == before


async def test_a_change_merges_and_erases_nothing(on_each_database: Office) -> None:
    office = on_each_database
    node, _ = await routed(office, 1)
    first = peering(node, session={"neighbor6": "fe80::801", "policy": {"prepend": 2, "local_pref": 150}})
    made = await wanted(office, "POST", "/api/v1/peerings", json=first)
    path = f"/api/v1/peerings/{made['id']}"
    change = {"session": {"policy": {"prepend": 1}}}
    changed = await wanted(office, "PATCH", path, json=change, headers=match(1))
    policy = changed["session"]["policy"]
    assert (policy["prepend"], policy["local_pref"]) == (1, 150)
    assert {k: v for k, v in changed["link"].items() if k != "x"} == made["link"]


async def test_a_stale_change_meets_both_versions(on_each_database: Office) -> None:
    office = on_each_database
    node, _ = await routed(office, 1)
    made = await wanted(office, "POST", "/api/v1/peerings", json=peering(node))
    path = f"/api/v1/peerings/{made['id']}"
    await wanted(office, "PATCH", path, json={"description": "hers"}, headers=match(1))
    stale = await office.admin.patch(path, json={"description": "his"}, headers=match(1))
    problem = stale.json()
    assert (stale.status_code, problem["code"]) == (409, "fact_changed")
    assert problem["current"]["description"] == "hers"
    assert problem["yours"] == {"description": "his"}
    missing = await office.admin.patch(path, json={"description": "his"})
    assert (missing.status_code, missing.json()["code"]) == (428, "version_missing")


async def test_secrets_are_sealed_and_shown_nowhere(on_each_database: Office) -> None:
    office = on_each_database
    node, sealing = await routed(office, 1)
    secrets = {"preshared_key": PRESHARED, "password": "planted-session-password"}
    made = await wanted(office, "POST", "/api/v1/peerings", json={**peering(node), **secrets})
    assert (made["has_preshared_key"], made["has_password"]) == (True, True)
    sealed = (await newest(office, node))["state"]["links"][0]["preshared_key"]
    assert SealedBox(sealing).decrypt(base64.b64decode(sealed)).decode() == PRESHARED
    paths = ["/api/v1/peerings", f"/api/v1/nodes/{node}/generations", "/api/v1/audit"]
    paths += [f"/api/v1/nodes/{node}/generations/2{end}" for end in ("", "/files", "/diff")]
    for path in paths:
        answer = await office.admin.get(path)
        assert answer.status_code == 200, path
        assert not any(secret in answer.text for secret in secrets.values()), path
    kept = await wanted(
        office, "PATCH", f"/api/v1/peerings/{made['id']}", json={"asn": 4242429803}, headers=match(1)
    )
    assert (kept["has_preshared_key"], kept["has_password"]) == (True, True)


async def test_what_cannot_be_is_refused_by_name(on_each_database: Office) -> None:
    office = on_each_database
    node, _ = await routed(office, 1)
    await wanted(office, "POST", "/api/v1/peerings", json=peering(node))
    again = await office.admin.post("/api/v1/peerings", json=peering(node))
    assert (again.status_code, again.json()["code"]) == (409, "peering_exists")
    same_port = peering(node, "g", asn=4242429811)
    same_port["link"]["listen_port"] = 29801
    taken = await office.admin.post("/api/v1/peerings", json=same_port)
    assert (taken.status_code, taken.json()["errors"][0]["field"]) == (409, "link.listen_port")
    nowhere = await office.admin.post("/api/v1/peerings", json=peering("r9"))
    assert (nowhere.status_code, nowhere.json()["code"]) == (404, "node_not_found")
    wrong = await office.admin.post("/api/v1/peerings", json=peering(node, "own4"))
    assert (wrong.status_code, wrong.json()["errors"][0]["field"]) == (422, "name")
    same_interface = peering(node, "h", asn=4242429812)
    same_interface["link"]["interface"] = "wg-f"
    twice = await office.admin.post("/api/v1/peerings", json=same_interface)
    assert (twice.status_code, twice.json()["code"]) == (422, "state_invalid")
    assert "wg-f" in twice.json()["detail"]


async def test_two_hundred_writers_give_growing_valid_generations(on_each_database: Office) -> None:
    office = on_each_database
    node, _ = await routed(office, 1)
    made = await wanted(office, "POST", "/api/v1/peerings", json=peering(node))
    path = f"/api/v1/peerings/{made['id']}"

    async def write(value: int) -> int:
        while True:
            version = (await wanted(office, "GET", path))["version"]
            change = {"session": {"policy": {"local_pref": value}}}
            answer = await office.admin.patch(path, json=change, headers=match(version))
            if answer.status_code == 200:
                return value
            assert answer.status_code == 409, answer.text

    async with asyncio.Semaphore(1):
        done = await asyncio.gather(*(write(1000 + value) for value in range(30)))
    assert len(done) == 30
    final = await wanted(office, "GET", path)
    history = (await wanted(office, "GET", f"/api/v1/nodes/{node}/generations?limit=200"))["items"]
    assert [entry["number"] for entry in history] == list(range(32, 0, -1))
    policy = (await newest(office, node))["state"]["peerings"][0]["session"]["policy"]
    assert policy["local_pref"] == final["session"]["policy"]["local_pref"]
