"""Forms lose no field: each field of each form is changed alone, is kept, and moves no other."""

from __future__ import annotations

from collections.abc import Mapping

from control_server.nodes.schemas import SettingsForm
from control_server.peerings.schemas import LinkForm, PeeringEditForm, PeeringForm
from control_server.policy.schemas import FactForm, PolicyForm
from tests.integration.control.conftest import signed_in
from tests.integration.control.enrolment.office import Office
from tests.integration.control.fleet.test_pages import TYPED, Person, form_of
from tests.integration.control.fleet.yard import PEER_KEY, peering, routed, wanted

OTHER_KEY = "ICEiIyQlJicoKSorLC0uLzAxMjM0NTY3ODk6Ozw9Pj8="
#: Of every form: who has read what, and what the page of the preview adds.
_NOT_FACTS = {*FactForm.model_fields, "csrf_token", ""}

SETTINGS = {
    "site": "Frankfurt, cellar",
    "description": "the one with the \"quotes' & <marks>",
    "labels": "region=eu\nrole=core",
    "allow_targets": "192.0.2.0/24\n2001:db8::/32",
    "deny_targets": "198.51.100.0/24",
    "asn": "4242429901",
    "number": "77",
    "router_id": "172.20.99.9",
    "hostname": "r1.loom.example",
    "loopback4": "172.20.99.7",
    "loopback6": "fd42:9900::7",
    "prefixes4": "172.20.99.0/27\n172.20.99.32/27",
    "prefixes6": "fd42:9900::/49",
    "proof4": "172.20.99.0/27",
    "proof6": "fd42:9900::/48",
    "region": "41",
    "country": "1276",
    "link_local": "fe80::9900",
    "endpoint": "2001:db8::1",
}
PEERING = {
    "description": "a neighbour",
    "enabled": "",
    "endpoint": "[2001:db8::9]:51820",
    "public_key": OTHER_KEY,
    "mtu": "1400",
    "keepalive": "10",
    "local_pref": "150",
    "prepend": "2",
    "import_limit": "50",
    "latency": "3",
    "bandwidth": "25",
    "bfd": "yes",
    "registry_filter": "origin",
    "as_set": "AS-FOO",
}
LINK = {
    "enabled": "",
    "interface_a": "wg-one",
    "interface_b": "wg-two",
    "port_a": "51999",
    "port_b": "51998",
    "mtu": "1380",
    "keepalive": "15",
    "cost": "70",
    "userspace": "yes",
    "kind": "plain",
}
POLICY = {
    "profile": "internet",
    "allowed4": "172.20.0.0/14{21,29}",
    "allowed6": "fd00::/8{44,64}",
    "max_path": "9",
    "bad_asn": "0\n64496-64511",
    "transit_asn": "174\n701",
    "roa_mode": "strict",
    "rtr_servers": "lab rtr.example 8282",
    "bfd_interfaces": "wg*",
    "bfd_min_rx": "250",
    "bfd_min_tx": "260",
    "bfd_multiplier": "5",
    "igp": "babel",
    "reflectors": "r1",
    "ibgp": "reflector",
    "inside_bfd": "yes",
    "collectors": "col fd42:9900::53 4242429902",
}
#: What means nothing without another field, which is set with it.
TOGETHER = {"as_set": {"registry_filter": "set"}}
WIZARD = {
    "asn": "4242429801",
    "public_key": OTHER_KEY,
    "endpoint": "oak.example:51820",
    "neighbor6": "fe80::5",
    "name": "oak",
    "description": "the oak & its <friends>",
    "listen_port": "51900",
    "mtu": "1380",
    "keepalive": "12",
    "local_pref": "120",
    "prepend": "1",
    "import_limit": "77",
    "latency": "4",
    "bandwidth": "23",
    "bfd": "yes",
    "registry_filter": "set",
    "as_set": "AS-OAK",
}


def facts_in(form: Mapping[str, str]) -> dict[str, str]:
    """What a form says, line ends as they may be; a switch that is off is not sent."""
    return {name: "\n".join(text.split()) for name, text in form.items() if name not in _NOT_FACTS and text}


async def change_each(person: Person, path: str, values: Mapping[str, str]) -> None:
    for field, value in values.items():
        before = form_of(await person.get(path), path)
        typed = {**before, **TOGETHER.get(field, {}), field: value}
        if not value:
            del typed[field]
        saved = await person.post(path, **typed)
        assert saved.status_code == 303, f"{field}: {saved.text}"
        after = facts_in(form_of(await person.get(path), path))
        assert after == facts_in(typed), field


async def test_every_setting_of_a_node(lite: Office) -> None:
    assert set(SETTINGS) == set(SettingsForm.model_fields) - set(FactForm.model_fields)
    person = Person(lite, await signed_in(lite))
    node, _ = await routed(lite, 1)
    await change_each(person, f"/nodes/{node}/settings", SETTINGS)


async def test_every_field_of_a_peering(lite: Office) -> None:
    assert set(PEERING) == set(PeeringEditForm.model_fields) - set(FactForm.model_fields)
    person = Person(lite, await signed_in(lite))
    node, _ = await routed(lite, 1)
    made = await wanted(lite, "POST", "/api/v1/peerings", json=peering(node))
    await change_each(person, f"/peerings/{made['id']}", PEERING)


async def test_every_field_of_a_link(lite: Office) -> None:
    ends = {"node_a", "node_b"}
    assert set(LINK) == set(LinkForm.model_fields) - set(FactForm.model_fields) - ends
    person = Person(lite, await signed_in(lite))
    for number in (1, 2):
        await routed(lite, number)
    made = await wanted(lite, "POST", "/api/v1/links", json={"node_a": "r1", "node_b": "r2"})
    await change_each(person, f"/links/{made['id']}", LINK)


async def test_every_field_of_the_policy(lite: Office) -> None:
    assert set(POLICY) == set(PolicyForm.model_fields) - set(FactForm.model_fields)
    person = Person(lite, await signed_in(lite))
    await routed(lite, 1)
    await change_each(person, "/policy", POLICY)


async def test_every_field_of_the_wizard(lite: Office) -> None:
    left = {"edit", "pasted", "preshared_key", "sealed_key"}
    assert set(WIZARD) == set(PeeringForm.model_fields) - left
    person = Person(lite, await signed_in(lite))
    node, _ = await routed(lite, 1)
    path = f"/nodes/{node}/peerings/new"
    looked = await person.post(f"{path}?preview=true", **WIZARD)
    assert looked.status_code == 200, looked.text
    last = form_of(looked.text, path)
    assert {name: last[name] for name in WIZARD} == WIZARD
    back = await person.post(path, **last, edit="yes")
    third = form_of(back.text, f"{path}?preview=true")
    assert {name: third.get(name, "") for name in WIZARD} == WIZARD
    made = await person.post(path, **last)
    assert made.status_code == 303, made.text
    (kept,) = (await wanted(lite, "GET", "/api/v1/peerings"))["items"]
    shown = form_of(await person.get(f"/peerings/{kept['id']}"), f"/peerings/{kept['id']}")
    same = set(WIZARD) & set(shown)
    assert {name: shown[name] for name in same} == {name: WIZARD[name] for name in same}
    assert (kept["name"], kept["link"]["listen_port"]) == ("oak", 51900)
    assert (kept["session"]["neighbor6"], kept["asn"]) == ("fe80::5", 4242429801)


async def test_a_pasted_block_fills_what_is_empty(lite: Office) -> None:
    person = Person(lite, await signed_in(lite))
    node, _ = await routed(lite, 1)
    path = f"/nodes/{node}/peerings/new"
    block = f"[Peer]\nPublicKey = {PEER_KEY}\nEndpoint = oak.example:51820\nAllowedIPs = ::/0\n"
    typed = {**TYPED, "endpoint": "", "public_key": "", "pasted": block}
    assert (await person.post(path, **typed)).status_code == 303
    (kept,) = (await wanted(lite, "GET", "/api/v1/peerings"))["items"]
    assert (kept["link"]["endpoint"], kept["link"]["peer_public_key"]) == ("oak.example:51820", PEER_KEY)
