"""Pages of the fleet: what they show, what their forms send, and what they lose: nothing."""

from __future__ import annotations

import html
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import httpx2
import pytest

from control_server.agents.models import Agent
from control_server.observations.models import NodeReport
from shared.protocol.fleet import (
    ApplyError,
    ApplyResult,
    ApplyState,
    ChannelState,
    DriftItem,
    DriftSeverity,
    Part,
    ProtocolState,
    ReconciliationReport,
    RuntimeSnapshot,
    Sight,
)
from tests.integration.control.conftest import signed_in
from tests.integration.control.enrolment.office import Office
from tests.integration.control.fleet.yard import PEER_KEY, match, newest, peering, routed, wanted

TYPED = {
    "asn": "AS4242429801",
    "public_key": PEER_KEY,
    "endpoint": "f.example:20099",
    "neighbor6": "fe80::801",
}


@dataclass
class Person:
    """A signed-in browser."""

    office: Office
    headers: Mapping[str, str]

    async def get(self, path: str) -> str:
        answer = await self.office.outside.get(path, headers={**self.headers, "Accept": "text/html"})
        assert answer.status_code == 200, answer.text
        return answer.text

    async def post(self, path: str, **typed: Any) -> httpx2.Response:
        return await self.office.outside.post(
            path, data=typed, headers={**self.headers, "Accept": "text/html"}
        )


@pytest.fixture
async def person(lite: Office) -> Person:
    return Person(lite, await signed_in(lite))


def form_of(page: str, action: str) -> dict[str, str]:
    """What a browser would send of a form that nobody touched."""
    form = page.split(f'action="{action}"')[1].split("</form>", maxsplit=1)[0]
    found = {}
    for field in re.findall(r"<input[^>]*>", form):
        name, value = re.search(r'name="([^"]*)"', field), re.search(r'value="([^"]*)"', field)
        if 'type="checkbox"' in field and " checked" not in field:
            continue
        found[name[1] if name else ""] = html.unescape(value[1]) if value else ""
    for area, text in re.findall(r'<textarea[^>]*name="([^"]*)"[^>]*>([^<]*)</textarea>', form):
        found[area] = html.unescape(text)
    for choice, options in re.findall(r'<select[^>]*name="([^"]*)"[^>]*>(.*?)</select>', form, re.DOTALL):
        chosen = re.search(r'<option value="([^"]*)" selected', options)
        found[choice] = html.unescape(chosen[1]) if chosen else ""
    return found


async def report(office: Office, node: str) -> None:
    at = office.clock()
    protocol = ProtocolState(
        name="rl_f",
        kind="BGP",
        state="up",
        bgp_state="Established",
        since=at - timedelta(hours=3),
        channels=(ChannelState(name="ipv6", imported=1234, filtered=5, exported=67),),
    )
    snapshot = RuntimeSnapshot(taken_at=at, routing=Part(sight=Sight.OBSERVED), protocols=(protocol,))
    failed = ApplyResult(
        generation=2,
        status=ApplyState.FAILED,
        errors=(ApplyError(step="validate", code="bird_refused", detail="50-f.conf:3 syntax error"),),
        started_at=at,
        finished_at=at,
    )
    item = DriftItem(subject="link:wg-f", severity=DriftSeverity.CRITICAL, desired="1420", observed="1380")
    drift = ReconciliationReport(generation=2, checked_at=at, items=(item,))
    async with office.resources.database.transaction() as session:
        session.add(
            NodeReport(
                node_id=node,
                apply_result=failed.model_dump(mode="json"),
                applied_generation=1,
                drift=drift.model_dump(mode="json"),
                snapshot=snapshot.model_dump(mode="json"),
            )
        )


async def test_the_node_s_page_says_what_became_of_its_generation(person: Person) -> None:
    node, _ = await routed(person.office, 1)
    await report(person.office, node)
    page = await person.get(f"/nodes/{node}")
    for text in ("validate", "50-f.conf:3 syntax error", "bird_refused", "link:wg-f", "1380", "Critical"):
        assert text in page
    for tab in ("peerings", "generations", "files", "settings"):
        assert f'href="/nodes/{node}/{tab}"' in page
        await person.get(f"/nodes/{node}/{tab}")


async def test_a_node_without_facts_shows_where_to_begin(person: Person) -> None:
    await wanted(person.office, "POST", "/api/v1/nodes", json={"node_id": "bare"})
    for tab in ("", "/peerings", "/generations", "/files", "/settings"):
        await person.get(f"/nodes/bare{tab}")
    assert "has no AS number yet" in await person.get("/nodes/bare/peerings/new?asn=AS4242429801")
    refused = await person.post("/nodes/bare/peerings/new", **TYPED)
    assert refused.status_code == 409
    assert "write its routing facts first" in refused.text


async def test_the_peerings_show_their_sessions(person: Person) -> None:
    office = person.office
    node, _ = await routed(office, 1)
    await wanted(office, "POST", "/api/v1/peerings", json=peering(node))
    await wanted(office, "POST", "/api/v1/peerings", json=peering(node, "g", asn=4242429802))
    other, _ = await routed(office, 2)
    await wanted(office, "POST", "/api/v1/links", json={"node_a": node, "node_b": other})
    assert "has told nothing" in await person.get(f"/nodes/{node}/peerings")
    await report(office, node)
    page = await person.get(f"/nodes/{node}/peerings")
    for text in ("AS4242429801", "Established", "1,234", "Not seen", 'href="/links/', other, "wg-r2"):
        assert text in page


async def test_many_peerings_are_found_by_words_and_pages(person: Person) -> None:
    office = person.office
    node, _ = await routed(office, 1)
    for number, name in ((1, "oak"), (2, "elm")):
        body = peering(node, name, asn=4242429800 + number, description=f"The {name} & more")
        await wanted(office, "POST", "/api/v1/peerings", json=body)
    path = f"/nodes/{node}/peerings"
    assert (await person.get(f"{path}?q=as4242429801")).count('href="/peerings/') == 1
    found = await person.get(f"{path}?q=the+ELM&page=7")
    assert ">elm</a>" in found
    assert ">oak</a>" not in found
    assert "No peering matches" in await person.get(f"{path}?q=%3Cb%3E")
    for odd in ("page=0", "page=x", f"q={'x' * 101}"):
        headers = {**person.headers, "Accept": "text/html"}
        assert (await office.outside.get(f"{path}?{odd}", headers=headers)).status_code == 422


async def test_the_wizard_previews_then_creates(person: Person) -> None:
    office = person.office
    node, _ = await routed(office, 1)
    path = f"/nodes/{node}/peerings/new"
    assert 'name="asn"' in await person.get("/peerings/new")
    assert f'value="{node}"' in await person.get("/peerings/new?asn=AS4242429801")
    third = await person.get(f"{path}?asn=AS4242429801")
    assert "The registry does not answer now" in third
    form = {**form_of(third, f"{path}?preview=true"), **TYPED}
    assert form["name"] == "as4242429801"
    last = await person.post(f"{path}?preview=true", **form)
    assert last.status_code == 200, last.text
    for text in ("Generation 2 of r1", "wg-as4242429801", "29801", "rl_as4242429801", "neighbor fe80::1 %"):
        assert text in last.text
    assert (await wanted(office, "GET", "/api/v1/peerings"))["total"] == 0
    again = form_of(last.text, path)
    assert {name: again[name] for name in TYPED} == TYPED
    back = await person.post(path, **again | {"edit": "yes"})
    assert form_of(back.text, f"{path}?preview=true")["endpoint"] == TYPED["endpoint"]
    made = await person.post(path, **again | {"publish_reason": "they asked us"})
    assert made.status_code == 303, made.text
    assert (await newest(office, node))["reason"].endswith("was added to r1: they asked us")
    (kept,) = (await wanted(office, "GET", f"/api/v1/peerings?node_id={node}"))["items"]
    assert kept["session"]["neighbor6"] == "fe80::801"
    assert kept["session"]["policy"]["import_limit"]["prefixes"] == 1000
    assert (await newest(office, node))["number"] == 2


REFUSED = {
    "asn": "nine",
    "public_key": "short",
    "endpoint": "no port",
    "neighbor6": "nowhere",
    "listen_port": "70000",
    "prepend": "9",
    "import_limit": "many",
    "preshared_key": "weak",
    "name": "Upper",
}


async def test_a_refused_wizard_says_where_and_keeps_what_was_typed(person: Person) -> None:
    node, _ = await routed(person.office, 1)
    path = f"/nodes/{node}/peerings/new"
    for field, value in REFUSED.items():
        refused = await person.post(path, **{**TYPED, "description": "kept words", field: value})
        assert refused.status_code == 422, refused.text
        assert re.search(rf'<input[^>]*name="{field}"[^>]*aria-invalid="true"', refused.text), field
        assert f'id="{field}-help"' in refused.text
        assert "kept words" in refused.text
        assert 'value="weak"' not in refused.text


async def test_the_text_for_the_other_side_is_complete(person: Person) -> None:
    office = person.office
    node, _ = await routed(office, 1)
    made = await wanted(office, "POST", "/api/v1/peerings", json=peering(node))
    other = await wanted(office, "GET", f"/api/v1/peerings/{made['id']}/other-side")
    async with office.resources.database.reading() as session:
        agent = await session.get(Agent, node)
        assert agent is not None
        assert agent.keys is not None
        key = agent.keys["wireguard"]
    assert (other["public_key"], other["endpoint"]) == (key, "r1.example:29801")
    for line in (
        "ListenPort = 20099",
        "Address = fe80::801/64",
        "Table = off",
        f"PublicKey = {key}",
        "Endpoint = r1.example:29801",
    ):
        assert line in other["wireguard"].splitlines()
    for line in ("  local fe80::801 as 4242429801;", "  neighbor fe80::1 % 'wg-r1' as 4242429900;"):
        assert line in other["bird"].splitlines()
    page = await person.get(f"/peerings/{made['id']}")
    assert "Endpoint = r1.example:29801" in page


async def test_the_form_of_a_peering_changes_only_its_fields(person: Person) -> None:
    office = person.office
    node, _ = await routed(office, 1)
    policy = {"prepend": 2, "drain": True, "import_limit": {"prefixes": 50, "action": "warn"}}
    session = {"neighbor6": "fe80::801", "policy": policy, "options": {"passive": True}}
    made = await wanted(office, "POST", "/api/v1/peerings", json=peering(node, session=session))
    path = f"/peerings/{made['id']}"
    form = form_of(await person.get(path), path)
    assert (form["prepend"], form["import_limit"], form["enabled"]) == ("2", "50", "yes")
    preview = await person.post(f"{path}?preview=true", **{**form, "local_pref": "150"})
    assert "session.<wbr>policy.<wbr>local_pref" in preview.text
    assert "sessions keep running" in preview.text
    back = await person.post(path, **form_of(preview.text, path), edit="yes")
    assert form_of(back.text, path)["local_pref"] == "150"
    saved = await person.post(path, **{**form, "local_pref": "150", "import_limit": "60"})
    assert saved.status_code == 303, saved.text
    kept = await wanted(office, "GET", f"/api/v1{path}")
    expected = made["session"]["policy"] | {
        "local_pref": 150,
        "import_limit": {"prefixes": 60, "action": "warn"},
    }
    assert kept["session"] == made["session"] | {"policy": expected}
    assert kept["link"] == made["link"]
    stale = await person.post(path, **{**form, "description": "mine"})
    assert stale.status_code == 409
    assert "Both versions" in stale.text
    retried = form_of(stale.text, path)
    assert (retried["version"], retried["description"]) == ("2", "mine")
    refused = await person.post(path, **{**retried, "prepend": "7"})
    assert refused.status_code == 422
    assert 'id="prepend-help"' in refused.text


async def test_a_peering_is_disabled_enabled_and_deleted_from_its_page(person: Person) -> None:
    office = person.office
    node, _ = await routed(office, 1)
    made = await wanted(office, "POST", "/api/v1/peerings", json=peering(node))
    path = f"/peerings/{made['id']}"
    for enabled, left in ((False, []), (True, ["f"])):
        action = f"{path}/enabled"
        answer = await person.post(action, **form_of(await person.get(path), action))
        assert answer.status_code == 303, answer.text
        assert (await wanted(office, "GET", f"/api/v1{path}"))["enabled"] is enabled
        assert [p["name"] for p in (await newest(office, node))["state"]["peerings"]] == left
    assert (await person.post(f"{path}/delete", confirmation="f")).status_code == 303
    assert (await wanted(office, "GET", "/api/v1/peerings"))["total"] == 0


async def test_a_generation_shows_its_changes_and_the_way_back(person: Person) -> None:
    office = person.office
    node, _ = await routed(office, 1)
    await wanted(office, "POST", "/api/v1/peerings", json=peering(node))
    listed = await person.get(f"/nodes/{node}/generations")
    assert "peering f was added to r1" in listed
    page = await person.get(f"/nodes/{node}/generations/2")
    for text in ("wg-f", "rl-diff-added", "rl_f", "main.conf"):
        assert text in page
    assert "protocol bgp rl_f" in await person.get(f"/nodes/{node}/files")
    back = f"/nodes/{node}/generations/1/rollback"
    preview = await person.post(f"{back}?preview=true")
    assert "Publish 3" in preview.text
    assert (await newest(office, node))["number"] == 2
    assert (await person.post(back)).status_code == 303
    assert (await newest(office, node))["state"]["peerings"] == []
    assert "rolled back to generation 1" in await person.get(f"/nodes/{node}/generations")


async def test_the_page_of_a_decommissioned_node_offers_no_way_back(person: Person) -> None:
    node, _ = await routed(person.office, 1)
    await wanted(person.office, "POST", "/api/v1/peerings", json=peering(node))
    page = f"/nodes/{node}/generations/1"
    assert "generations/1/rollback" in await person.get(page)
    version = (await wanted(person.office, "GET", f"/api/v1/nodes/{node}/facts"))["version"]
    gone = {"json": {"lifecycle": "decommissioned"}, "headers": match(version)}
    await wanted(person.office, "PATCH", f"/api/v1/nodes/{node}", **gone)
    shown = await person.get(page)
    assert "generations/1/rollback" not in shown
    assert "The node is decommissioned: it routes nothing." in shown


async def test_the_settings_lose_no_field(person: Person) -> None:
    office = person.office
    hidden = {
        "kernel": {"metric": 600},
        "anycast": [{"interface": "rl-dns", "addresses": ["172.20.99.53/32"]}],
    }
    node, _ = await routed(office, 1, **hidden)
    path = f"/nodes/{node}/settings"
    before = await wanted(office, "GET", f"/api/v1/nodes/{node}/facts")
    form = form_of(await person.get(path), path)
    untouched = await person.post(path, **form)
    assert untouched.status_code == 303, untouched.text
    after = await wanted(office, "GET", f"/api/v1/nodes/{node}/facts")
    assert after | {"version": 0} == before | {"version": 0}
    form = form_of(await person.get(path), path)
    preview = await person.post(f"{path}?preview=true", **{**form, "region": "41"})
    assert "region" in preview.text
    assert "Publish 2" in preview.text
    changed = {"site": "Frankfurt", "region": "41", "prefixes4": "172.20.99.0/27\r\n172.20.99.32/27"}
    changed |= {"labels": "role=core\r\nregion=eu", "deny_targets": "172.20.99.0/29"}
    assert (await person.post(path, **{**form, **changed})).status_code == 303
    kept = await wanted(office, "GET", f"/api/v1/nodes/{node}/facts")
    routing = before["routing"] | {"region": 41, "prefixes4": ["172.20.99.0/27", "172.20.99.32/27"]}
    assert (kept["site"], kept["routing"]) == ("Frankfurt", routing)
    assert (kept["labels"], kept["deny_targets"]) == ({"role": "core", "region": "eu"}, ["172.20.99.0/29"])


async def test_two_who_change_one_node_see_both_versions(person: Person) -> None:
    office = person.office
    node, _ = await routed(office, 1)
    path = f"/nodes/{node}/settings"
    form = form_of(await person.get(path), path)
    version = int(form["version"])
    await wanted(office, "PATCH", f"/api/v1/nodes/{node}", json={"site": "Paris"}, headers=match(version))
    stale = await person.post(path, **{**form, "site": "Frankfurt"})
    assert stale.status_code == 409
    for text in ("Both versions", "Paris", "Frankfurt"):
        assert text in stale.text
    assert (await person.post(path, **form_of(stale.text, path))).status_code == 303
    assert (await wanted(office, "GET", f"/api/v1/nodes/{node}/facts"))["site"] == "Frankfurt"
    form = form_of(await person.get(path), path)
    refused = await person.post(path, **{**form, "loopback4": "not one"})
    assert refused.status_code == 422
    assert 'id="loopback4-help"' in refused.text
    assert "not one" in refused.text


async def test_maintenance_is_one_form_and_one_button(person: Person) -> None:
    office = person.office
    node, _ = await routed(office, 1)
    begun = await person.post(f"/nodes/{node}/maintenance", reason="new disks", until="2030-01-02T04:00")
    assert begun.status_code == 303, begun.text
    page = await person.get(f"/nodes/{node}")
    assert "In maintenance: new disks" in page
    form = form_of(page, f"/nodes/{node}/maintenance")
    assert (form["reason"], form["until"]) == ("new disks", "2030-01-02T04:00")
    # It takes longer than was said, and somebody says why.
    office.clock.turn(timedelta(hours=2))
    longer = await person.post(f"/nodes/{node}/maintenance", **{**form, "reason": "newer disks"})
    assert longer.status_code == 303, longer.text
    kept = (await wanted(office, "GET", f"/api/v1/nodes/{node}/facts"))["maintenance"]
    assert (kept["reason"], kept["until"][:16]) == ("newer disks", "2030-01-02T04:00")
    assert (await newest(office, node))["state"]["node"]["draining"] is True
    assert (await person.post(f"/nodes/{node}/maintenance/end")).status_code == 303
    assert "In maintenance" not in await person.get(f"/nodes/{node}")
    assert (await newest(office, node))["state"]["node"]["draining"] is False


async def test_a_refused_maintenance_stands_beside_its_field_with_what_was_typed(person: Person) -> None:
    node, _ = await routed(person.office, 1)
    path = f"/nodes/{node}/maintenance"
    for typed, field in (
        ({"reason": "new disks", "until": "2030-01-02T03:00"}, "until"),
        ({"reason": "new disks", "until": "soon"}, "until"),
        ({"reason": "x" * 201, "until": "2030-01-02T04:00"}, "reason"),
    ):
        refused = await person.post(path, **typed)
        assert refused.status_code == 422, refused.text
        assert f'id="{field}-help"' in refused.text
        form = form_of(refused.text, path)
        assert {name: form[name] for name in typed} == typed
    assert (await person.post(path, **{**form, "reason": "new disks"})).status_code == 303
    assert "In maintenance: new disks" in await person.get(f"/nodes/{node}")


async def test_a_node_shows_what_it_routes_as_and_that_nothing_was_applied_yet(person: Person) -> None:
    node, _ = await routed(person.office, 1)
    page = await person.get(f"/nodes/{node}")
    band = page.split('class="rl-band-facts"')[1].split("</nav>")[0]
    for text in ("AS4242429900", "router ID", ">172.20.99.1<", "loopback", ">fd42:9900::1<"):
        assert text in band
    assert "Nothing has been applied yet" in page
    part = page.split("Nothing has been applied yet")[0].rsplit('<div class="rl-part ', 1)[1]
    assert part.startswith("rl-part-unknown")
    assert "As it should be" not in page
    await report(person.office, node)
    assert "Nothing has been applied yet" not in await person.get(f"/nodes/{node}")
    bare = await wanted(person.office, "POST", "/api/v1/nodes", json={"node_id": "bare"})
    assert (bare["asn"], bare["router_id"], bare["loopback6"]) == (None, None, None)
    assert "router ID" not in await person.get("/nodes/bare")
