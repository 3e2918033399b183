"""What has a default of its own can be put off: null in a patch takes the default, `off` takes it away."""

from __future__ import annotations

import pytest

from control_server.peerings.rules.forms import edit_form_of, update_of
from control_server.peerings.rules.links import link_form_of, link_update_of
from control_server.peerings.schemas import LinkRead, PeeringRead
from tests.integration.control.enrolment.office import Office
from tests.integration.control.fleet.yard import match, newest, peering, routed, wanted


@pytest.mark.parametrize(
    ("field", "default"),
    [
        ("import_limit", {"prefixes": 1000, "action": "block"}),
        ("quality", {"latency": 1, "bandwidth": 24, "crypto": 34}),
    ],
)
async def test_off_is_none_until_null_takes_the_default(
    lite: Office, field: str, default: dict[str, object]
) -> None:
    office = lite
    node, _ = await routed(office, 1)
    made = await wanted(office, "POST", "/api/v1/peerings", json=peering(node))
    path = f"/api/v1/peerings/{made['id']}"
    assert made["session"]["policy"][field] == default
    version = 1
    for written, expected in (("off", None), (None, default)):
        change = {"session": {"policy": {field: written}}}
        changed = await wanted(office, "PATCH", path, json=change, headers=match(version))
        assert changed["session"]["policy"][field] == expected
        state = (await newest(office, node))["state"]
        assert state["peerings"][0]["session"]["policy"][field] == expected
        version = changed["version"]
        # A change of something else leaves it as it is.
        other = {"session": {"policy": {"local_pref": 100 + version}}}
        changed = await wanted(office, "PATCH", path, json=other, headers=match(version))
        assert changed["session"]["policy"][field] == expected
        version = changed["version"]


async def test_a_peering_may_begin_without_a_limit(lite: Office) -> None:
    node, _ = await routed(lite, 1)
    body = peering(node)
    body["session"]["policy"] = {"import_limit": "off"}
    made = await wanted(lite, "POST", "/api/v1/peerings", json=body)
    assert made["session"]["policy"]["import_limit"] is None
    generation = (await newest(lite, node))["number"]
    shown = await lite.admin.get(f"/api/v1/nodes/{node}/generations/{generation}/files")
    assert "protocol bgp rl_f" in shown.text
    assert "import limit" not in shown.text


async def test_the_form_says_off_and_takes_it(lite: Office) -> None:
    node, _ = await routed(lite, 1)
    made = await wanted(lite, "POST", "/api/v1/peerings", json=peering(node))
    path = f"/api/v1/peerings/{made['id']}"
    shown = edit_form_of(PeeringRead.model_validate(made))
    assert shown.import_limit == "1000"
    typed = shown.model_copy(update={"import_limit": "off"})
    change = update_of(PeeringRead.model_validate(made), typed).model_dump(exclude_unset=True)
    assert change == {"session": {"policy": {"import_limit": "off"}}}
    none = await wanted(lite, "PATCH", path, json=change, headers=match(1))
    assert none["session"]["policy"]["import_limit"] is None
    without = edit_form_of(PeeringRead.model_validate(none))
    assert without.import_limit == "off"
    assert update_of(PeeringRead.model_validate(none), without).model_dump(exclude_unset=True) == {}
    emptied = update_of(PeeringRead.model_validate(none), without.model_copy(update={"import_limit": ""}))
    kept = await wanted(
        lite, "PATCH", path, json=emptied.model_dump(exclude_unset=True), headers=match(none["version"])
    )
    assert kept["session"]["policy"]["import_limit"] == {"prefixes": 1000, "action": "block"}


@pytest.mark.parametrize("off", ["off", 0])
async def test_a_tunnel_is_kept_open_until_somebody_says_off(lite: Office, off: object) -> None:
    node, _ = await routed(lite, 1)
    made = await wanted(lite, "POST", "/api/v1/peerings", json=peering(node))
    path = f"/api/v1/peerings/{made['id']}"
    assert made["link"]["keepalive"] == 25
    for version, (written, expected) in enumerate(((off, None), (None, 25)), start=1):
        change = {"link": {"keepalive": written}}
        changed = await wanted(lite, "PATCH", path, json=change, headers=match(version))
        assert changed["link"]["keepalive"] == expected
        assert (await newest(lite, node))["state"]["links"][0]["keepalive"] == expected


async def test_a_link_between_own_nodes_takes_off_too(lite: Office) -> None:
    (node, _), (other, _) = await routed(lite, 1), await routed(lite, 2)
    body = {"node_a": node, "node_b": other, "keepalive": "off"}
    made = await wanted(lite, "POST", "/api/v1/links", json=body)
    assert made["keepalive"] is None
    path = f"/api/v1/links/{made['id']}"
    kept = await wanted(lite, "PATCH", path, json={"link": {"cost": 9}}, headers=match(1))
    assert kept["keepalive"] is None
    usual = await wanted(lite, "PATCH", path, json={"link": {"keepalive": None}}, headers=match(2))
    assert usual["keepalive"] == 25
    present = LinkRead.model_validate(usual)
    emptied = link_update_of(present, link_form_of(present).model_copy(update={"keepalive": ""}))
    change = emptied.model_dump(exclude_unset=True)
    assert (await wanted(lite, "PATCH", path, json=change, headers=match(3)))["keepalive"] is None


async def test_an_emptied_keepalive_of_a_form_is_off(lite: Office) -> None:
    node, _ = await routed(lite, 1)
    made = PeeringRead.model_validate(await wanted(lite, "POST", "/api/v1/peerings", json=peering(node)))
    shown = edit_form_of(made)
    assert shown.keepalive == "25"
    change = update_of(made, shown.model_copy(update={"keepalive": ""})).model_dump(exclude_unset=True)
    path = f"/api/v1/peerings/{made.id}"
    assert (await wanted(lite, "PATCH", path, json=change, headers=match(1)))["link"]["keepalive"] is None
