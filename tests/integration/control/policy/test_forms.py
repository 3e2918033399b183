"""Forms of the policy and of links: they change their fields, lose none, and show both versions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tests.integration.control.conftest import signed_in
from tests.integration.control.enrolment.office import Office
from tests.integration.control.fleet.test_pages import form_of
from tests.integration.control.fleet.yard import match, newest, routed, wanted

HIDDEN: dict[str, Any] = {
    "roa": {
        "mode": "strict",
        "servers": [{"name": "lab", "host": "rtr.example", "port": 8282, "retry": 30}],
        "snapshot": [{"prefix": "172.20.16.0/27", "max_length": 28, "origin": 4242429801}],
    },
    "bfd": {"timers": {"min_rx": 500, "min_tx": 400, "multiplier": 5}, "idle_tx": 2000},
    "policy": {
        "allowed4": [{"prefix": "172.20.0.0/14", "shortest": 21, "longest": 29}],
        "bad_asn": [{"first": 0, "last": 0}, {"first": 64496, "last": 64511}],
    },
    "collectors": [{"name": "col", "address": "fd42:9900::53", "asn": 4242429902, "add_paths": False}],
}


async def post(office: Office, headers: Mapping[str, str], path: str, **typed: str) -> tuple[int, str]:
    answer = await office.outside.post(path, data=typed, headers=headers)
    return answer.status_code, answer.text


async def test_the_policy_s_form_changes_only_its_fields(lite: Office) -> None:
    headers = await signed_in(lite)
    node, _ = await routed(lite, 1)
    before = await wanted(lite, "PUT", "/api/v1/policy", json=HIDDEN, headers=match(0))
    form = form_of((await lite.outside.get("/policy", headers=headers)).text, "/policy")
    assert form["allowed4"] == "172.20.0.0/14{21,29}"
    assert form["bad_asn"].split() == ["0", "64496-64511"]
    assert form["rtr_servers"] == "lab rtr.example 8282"
    assert (await post(lite, headers, "/policy", **form))[0] == 303
    same = await wanted(lite, "GET", "/api/v1/policy")
    ignored = {"version": 0, "updated_at": "", "updated_by": ""}
    assert same | ignored == before | ignored
    typed = {
        **form,
        "version": "2",
        "max_path": "6",
        "allowed4": "172.20.0.0/14{21,29}\r\n10.0.0.0/8+",
        "rtr_servers": "lab rtr.example 8283\r\nother fd42::1 323",
        "collectors": "col fd42:9900::53 4242429903",
    }
    status, preview = await post(lite, headers, "/policy?preview=true", **typed)
    assert status == 200, preview
    assert f"of {node}" in preview
    assert "max_path" in preview
    again = form_of(preview, "/policy") | {"publish_reason": "less noise"}
    assert (await post(lite, headers, "/policy", **again))[0] == 303
    after = await wanted(lite, "GET", "/api/v1/policy")
    assert after["policy"]["max_path"] == 6
    assert after["policy"]["allowed4"][1] == {"prefix": "10.0.0.0/8", "shortest": 8, "longest": 32}
    assert [server["retry"] for server in after["roa"]["servers"]] == [30, 90]
    assert [server["port"] for server in after["roa"]["servers"]] == [8283, 323]
    assert after["roa"]["snapshot"] == before["roa"]["snapshot"]
    assert after["collectors"] == [{**HIDDEN["collectors"][0], "asn": 4242429903}]
    assert after["bfd"] == before["bfd"]
    assert (await newest(lite, node))["reason"] == "the fleet's policy changed: less noise"


async def test_a_refused_line_of_the_policy_says_where(lite: Office) -> None:
    headers = await signed_in(lite)
    form = form_of((await lite.outside.get("/policy", headers=headers)).text, "/policy")
    refused = {
        "allowed4": "172.20.0.0",
        "bad_asn": "nine",
        "rtr_servers": "lab",
        "max_path": "900",
        "bfd_min_rx": "1",
    }
    for field, value in refused.items():
        status, page = await post(lite, headers, "/policy", **{**form, field: value, "transit_asn": "64999"})
        assert status == 422
        assert f'id="{field}-help"' in page
        assert "64999" in page


async def test_two_who_change_the_policy_see_what_each_wrote(lite: Office) -> None:
    headers = await signed_in(lite)
    form = form_of((await lite.outside.get("/policy", headers=headers)).text, "/policy")
    theirs = {"policy": {"max_path": 5}, "inside": {"igp": "babel"}}
    await wanted(lite, "PUT", "/api/v1/policy", json=theirs, headers=match(0))
    status, page = await post(lite, headers, "/policy", **{**form, "max_path": "7"})
    assert status == 409
    assert "Both versions" in page
    again = form_of(page, "/policy")
    # Only they have changed the protocol, so theirs stands in the form; the path's length is mine.
    assert (again["igp"], again["max_path"]) == ("babel", "7")
    assert (await post(lite, headers, "/policy", **again))[0] == 303
    kept = await wanted(lite, "GET", "/api/v1/policy")
    assert (kept["inside"]["igp"], kept["policy"]["max_path"]) == ("babel", 7)


async def test_a_link_is_made_changed_and_parted_by_forms(lite: Office) -> None:
    headers = await signed_in(lite)
    first, _ = await routed(lite, 1)
    second, _ = await routed(lite, 2)
    new = form_of((await lite.outside.get(f"/links/new?node={first}", headers=headers)).text, "/links/new")
    assert new["node_a"] == first
    refused = await post(lite, headers, "/links/new", **{**new, "node_b": first})
    assert refused[0] == 422
    typed = {**new, "node_b": second, "cost": "35"}
    status, preview = await post(lite, headers, "/links/new?preview=true", **typed)
    assert status == 200, preview
    assert "2 nodes get a new generation" in preview
    assert (await wanted(lite, "GET", "/api/v1/links"))["total"] == 0
    assert (await post(lite, headers, "/links/new", **form_of(preview, "/links/new")))[0] == 303
    (made,) = (await wanted(lite, "GET", "/api/v1/links"))["items"]
    assert (made["cost"], made["enabled"]) == (35, True)
    path = f"/links/{made['id']}"
    form = form_of((await lite.outside.get(path, headers=headers)).text, path)
    assert (await post(lite, headers, path, **{**form, "mtu": "1400"}))[0] == 303
    changed = await wanted(lite, "GET", f"/api/v1{path}")
    same = {"version": 0, "updated_at": "", "mtu": 0}
    assert changed | same == made | same
    assert changed["mtu"] == 1400
    status, both = await post(lite, headers, path, **{**form, "cost": "40"})
    assert status == 409
    again = form_of(both, path)
    assert (again["mtu"], again["cost"]) == ("1400", "40")
    del again["enabled"]
    assert (await post(lite, headers, path, **again))[0] == 303
    off = await wanted(lite, "GET", f"/api/v1{path}")
    assert (off["enabled"], off["cost"], off["mtu"]) == (False, 40, 1400)
    assert (await newest(lite, first))["state"]["links"] == []
    assert (await post(lite, headers, f"{path}/delete"))[0] == 303
    assert (await wanted(lite, "GET", "/api/v1/links"))["total"] == 0


async def test_a_node_is_taken_out_of_service_and_deleted_by_its_page(lite: Office) -> None:
    headers = await signed_in(lite)
    node, _ = await routed(lite, 1)
    path = f"/nodes/{node}"
    page = (await lite.outside.get(f"{path}/settings", headers=headers)).text
    preview = await post(
        lite, headers, f"{path}/lifecycle?preview=true", **form_of(page, f"{path}/lifecycle?preview=true")
    )
    assert preview[0] == 200
    form = form_of(preview[1], f"{path}/lifecycle")
    assert (await post(lite, headers, f"{path}/lifecycle", **form))[0] == 303
    assert (await newest(lite, node))["state"]["routing"] is False
    page = (await lite.outside.get(f"{path}/settings", headers=headers)).text
    assert "The node is decommissioned" in page
    deleted = await lite.outside.post(f"{path}/delete", data={"confirmation": node}, headers=headers)
    assert deleted.status_code in {303, 401, 403}, deleted.text
