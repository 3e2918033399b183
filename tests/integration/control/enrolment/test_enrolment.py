"""One-shot tokens, proof of an identity key, the approval queue, and what the audit trail keeps."""

import asyncio
from datetime import timedelta

import pytest

from tests.integration.control.enrolment.office import Machine, Office


async def test_token_and_proof_make_an_agent(office: Office) -> None:
    machine = Machine()
    answer = await office.enrol(machine, await office.token(node_id="fra1"))
    assert answer.status_code == 200
    body = answer.json()
    assert (body["state"], body["node_id"]) == ("enrolled", "fra1")
    assert body["agent_token"].startswith("rlg_")
    node = await office.node("fra1")
    assert node["liveness"] == "unknown"
    assert node["health"]["state"] == "unknown"
    assert (node["health"]["reasons"], node["health"]["since"]) == (["never_reported"], None)
    assert node["agent"]["hostname"] == "fra1.loom.example"
    assert (await office.actions())[-3:] == ["enrolment_token.created", "node.created", "agent.enrolled"]


async def test_a_token_is_good_once(office: Office) -> None:
    token = await office.token(node_id="fra1")
    assert (await office.enrol(Machine(), token)).status_code == 200
    again = await office.enrol(Machine(), token)
    assert (again.status_code, again.json()["code"]) == (401, "enrolment_token_refused")


async def test_twenty_at_once_with_one_token_make_one_agent(office: Office) -> None:
    token = await office.token(node_id="fra1")
    machines = [Machine() for _ in range(20)]
    answers = await asyncio.gather(*(office.enrol(machine, token) for machine in machines))
    statuses = sorted(answer.status_code for answer in answers)
    assert statuses == [200] + [401] * 19


async def test_an_expired_token_is_refused(office: Office) -> None:
    token = await office.token(node_id="fra1", expires_in=60)
    office.clock.turn(timedelta(seconds=61))
    assert (await office.enrol(Machine(), token)).status_code == 401


async def test_a_revoked_token_is_refused(office: Office) -> None:
    token = await office.token(node_id="fra1")
    ident = token.split("_")[1]
    assert (await office.admin.delete(f"/api/v1/enrolment-tokens/{ident}")).status_code == 204
    assert (await office.enrol(Machine(), token)).status_code == 401
    listed = (await office.admin.get("/api/v1/enrolment-tokens")).json()
    assert listed[0]["state"] == "revoked"
    assert "token" not in listed[0]


async def test_a_challenge_is_good_once_and_for_minutes(office: Office) -> None:
    machine, challenge = Machine(), await office.challenge()
    first = await office.enrol(machine, await office.token(node_id="fra1"), challenge=challenge)
    assert first.status_code == 200
    second = await office.enrol(machine, await office.token(node_id="fra1"), challenge=challenge)
    assert second.json()["code"] == "enrolment_challenge_refused"
    late = await office.challenge()
    office.clock.turn(timedelta(minutes=6))
    token = await office.token(node_id="fra1")
    assert (await office.enrol(machine, token, challenge=late)).status_code == 401


@pytest.mark.parametrize("fault", ["other_key", "not_base64", "short", "other_node"])
async def test_a_proof_that_does_not_prove_is_refused_and_spends_the_challenge_only(
    office: Office, fault: str
) -> None:
    machine, stranger = Machine(), Machine()
    token, challenge = await office.token(node_id="fra1"), await office.challenge()
    forged = {
        "other_key": stranger.sign(challenge, token, None),
        "not_base64": "%%%",
        "short": "AAAA",
        "other_node": machine.sign(challenge, token, "ams1"),
    }[fault]
    answer = await office.enrol(machine, token, challenge=challenge, signature=forged)
    assert (answer.status_code, answer.json()["code"]) == (403, "enrolment_proof_refused")
    replayed = await office.enrol(machine, token, challenge=challenge)
    assert replayed.json()["code"] == "enrolment_challenge_refused"
    assert (await office.enrol(machine, token)).status_code == 200


async def test_a_token_for_one_node_is_no_token_for_another(office: Office) -> None:
    answer = await office.enrol(Machine(), await office.token(node_id="fra1"), node_id="ams1")
    assert answer.status_code == 401
    assert "fra1" in answer.json()["detail"]


async def test_the_same_machine_may_enrol_again_and_its_old_token_dies(office: Office) -> None:
    machine = Machine()
    first = (await office.enrol(machine, await office.token(node_id="fra1"))).json()["agent_token"]
    second = (await office.enrol(machine, await office.token(node_id="fra1"))).json()["agent_token"]
    report = {"agent_version": "0.1.0", "uptime_seconds": 1}
    path = "/api/v1/agent/reports/heartbeat"
    old = await office.outside.post(path, json=report, headers={"Authorization": f"Bearer {first}"})
    new = await office.outside.post(path, json=report, headers={"Authorization": f"Bearer {second}"})
    assert (old.status_code, new.status_code) == (401, 200)
    assert (await office.node("fra1"))["liveness"] == "online"


async def test_another_machine_needs_an_operators_reset(office: Office) -> None:
    assert (await office.enrol(Machine(), await office.token(node_id="fra1"))).status_code == 200
    replacement, token = Machine(), await office.token(node_id="fra1")
    refused = await office.enrol(replacement, token)
    assert (refused.status_code, refused.json()["code"]) == (409, "enrolment_other_identity")
    assert (await office.admin.post("/api/v1/nodes/fra1/agent/reset")).status_code == 204
    assert (await office.enrol(replacement, token)).status_code == 200


async def test_one_machine_cannot_be_two_nodes(office: Office) -> None:
    machine = Machine()
    assert (await office.enrol(machine, await office.token(node_id="fra1"))).status_code == 200
    answer = await office.enrol(machine, await office.token(node_id="ams1"))
    assert (answer.status_code, answer.json()["code"]) == (409, "enrolment_key_in_use")


async def test_without_a_node_the_agent_waits_for_approval(office: Office) -> None:
    machine = Machine()
    answer = await office.enrol(machine, await office.token())
    assert (answer.status_code, answer.json()["state"]) == (202, "pending")
    ident = answer.json()["registration_id"]
    waiting = (await office.admin.get("/api/v1/registrations?state=pending")).json()
    assert [(row["id"], row["node_id"]) for row in waiting] == [(ident, "fra1")]
    assert (await office.enrol(machine, registration_id=ident)).status_code == 202
    approved = await office.admin.post(f"/api/v1/registrations/{ident}/approve", json={"node_id": "fra9"})
    assert approved.json()["state"] == "approved"
    enrolled = (await office.enrol(machine, registration_id=ident)).json()
    assert (enrolled["state"], enrolled["node_id"]) == ("enrolled", "fra9")
    again = await office.enrol(machine, registration_id=ident)
    assert (again.status_code, again.json()["code"]) == (409, "registration_decided")


async def test_a_rejected_agent_is_told_so(office: Office) -> None:
    machine = Machine()
    ident = (await office.enrol(machine, await office.token())).json()["registration_id"]
    assert (await office.admin.post(f"/api/v1/registrations/{ident}/reject")).status_code == 200
    assert (await office.enrol(machine, registration_id=ident)).json()["state"] == "rejected"
    late = await office.admin.post(f"/api/v1/registrations/{ident}/approve", json={})
    assert late.status_code == 409


async def test_another_key_cannot_take_over_a_registration(office: Office) -> None:
    ident = (await office.enrol(Machine(), await office.token())).json()["registration_id"]
    assert (await office.enrol(Machine(), registration_id=ident)).status_code == 404


@pytest.mark.parametrize("node_id", ["", "Fra1", "-fra", "fra_1", "a" * 64, "fra1\n"])
async def test_a_node_id_that_is_none_is_refused_by_name(office: Office, node_id: str) -> None:
    answer = await office.admin.post("/api/v1/enrolment-tokens", json={"node_id": node_id})
    assert answer.status_code == 422
    assert answer.json()["errors"][0]["field"] == "node_id"


async def test_the_audit_trail_pages_and_filters(office: Office) -> None:
    for number in range(7):
        await office.token(node_id=f"node{number}")
    seen: list[str] = []
    cursor = ""
    while True:
        query = f"?limit=3&action=enrolment_token.{cursor}"
        page = (await office.admin.get(f"/api/v1/audit{query}")).json()
        seen += [event["object_id"] for event in page["items"]]
        if page["next"] is None:
            break
        cursor = f"&cursor={page['next']}"
    assert len(seen) == len(set(seen)) == 7
    assert (await office.admin.get("/api/v1/audit?cursor=nonsense")).status_code == 422


async def test_no_secret_is_in_the_audit_trail_or_the_database(office: Office) -> None:
    token = await office.token(node_id="fra1")
    agent_token = (await office.enrol(Machine(), token)).json()["agent_token"]
    trail = (await office.admin.get("/api/v1/audit?limit=500")).text
    for secret in (token, agent_token):
        assert secret.split("_", 2)[2] not in trail


async def test_strangers_are_refused_everywhere(office: Office) -> None:
    assert (await office.outside.get("/api/v1/nodes")).status_code == 401
    assert (await office.outside.post("/api/v1/enrolment-tokens", json={})).status_code == 401
    assert (await office.outside.get("/api/v1/audit")).status_code == 401
    bad = {"Authorization": "Bearer rlp_0123456789ab_" + "x" * 43}
    assert (await office.outside.get("/api/v1/nodes", headers=bad)).status_code == 401


async def test_one_place_cannot_use_up_the_challenges_of_all(office: Office) -> None:
    path = "/api/v1/agent/enrol/challenges"
    statuses = [(await office.outside.post(path)).status_code for _ in range(101)]
    assert statuses == [201] * 100 + [429]
    office.clock.turn(timedelta(minutes=6))
    assert (await office.outside.post(path)).status_code == 201


async def test_a_nul_character_is_never_a_fault_of_the_server(office: Office) -> None:
    asked = await office.admin.get("/api/v1/audit", params={"actor": "a\0b"})
    assert asked.status_code in {200, 422}
    node = {"node_id": "fra1", "description": "a\0b"}
    assert (await office.admin.post("/api/v1/nodes", json=node)).status_code in {201, 422}
