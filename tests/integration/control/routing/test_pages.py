"""Pages of routing and traffic, and the series for a monitoring system."""

import pytest

from shared.protocol.fleet import ChannelState, ProtocolState, RuntimeSnapshot
from shared.protocol.frames import Heartbeat
from shared.protocol.reports import Validity
from tests.integration.control.conftest import signed_in
from tests.integration.control.enrolment.office import Office
from tests.integration.control.fleet_reports import ORIGIN, ReportingNode, reporting, route
from tests.integration.control.routing.reading import TABLE


@pytest.fixture
async def node(lite: Office) -> ReportingNode:
    return await reporting(lite)


async def test_pages_say_what_was_told(node: ReportingNode) -> None:
    browser = await signed_in(node.office)

    async def page(path: str) -> str:
        answer = await node.office.outside.get(path, headers={**browser, "Accept": "text/html"})
        assert answer.status_code == 200, answer.text
        return answer.text

    assert "No routes told yet" in await page("/routing")
    assert "Nothing measured yet" in await page("/traffic")
    assert "No node has this prefix" in await page("/routing/prefix?prefix=10.1.0.0/16")
    await node.tell_whole({**TABLE, "10.1.2.0/24": [route(validity=Validity.INVALID)]})
    await node.tell({"10.1.0.0/16": []})
    await node.count(wg_f=0)
    await node.count(wg_f=3000)
    assert f"AS{ORIGIN}" in await page("/routing")
    assert "10.1.2.0/24" in await page("/routing")
    shown = await page("/routing/prefix?prefix=10.9.0.0/24")
    assert "Filtered" in shown
    assert "Invalid origin" in shown
    assert "Withdrawn" in await page("/routing/prefix?prefix=10.1.0.0/16")
    assert "10.9.0.0/24" in await page(f"/routing/origins/{ORIGIN}")
    for wanted in ("2h", "24h", "90d"):
        assert "edge1" in await page(f"/traffic?range={wanted}")


@pytest.mark.parametrize(
    ("words", "place"),
    [
        ("AS4242429955", "/routing/origins/4242429955"),
        ("4242429955", "/routing/origins/4242429955"),
        ("10.1.2.3", "/routing/prefix?prefix=10.1.2.0%2F24"),
        ("192.0.2.1", "/routing/prefix?prefix=192.0.2.1%2F32"),
        ("fd42:9901::/48", "/routing/prefix?prefix=fd42%3A9901%3A%3A%2F48"),
    ],
)
async def test_a_search_leads_to_what_is_meant(node: ReportingNode, words: str, place: str) -> None:
    await node.tell_whole(TABLE)
    browser = await signed_in(node.office)
    answer = await node.office.outside.get("/routing/search", params={"q": words}, headers=browser)
    assert (answer.status_code, answer.headers["Location"]) == (303, place)


async def test_only_the_inventory_has_series(lite: Office) -> None:
    def session(name: str) -> ProtocolState:
        channel = ChannelState(name="ipv4", imported=7, filtered=0)
        return ProtocolState(name=name, kind="BGP", state="up", bgp_state="Established", channels=(channel,))

    routing = {
        "asn": 4242429900,
        "number": 1,
        "loopback4": "172.20.99.1",
        "loopback6": "fd42:9900::1",
        "prefixes4": ["172.20.99.0/26"],
        "prefixes6": ["fd42:9900::/48"],
    }
    added = await lite.admin.post("/api/v1/nodes", json={"node_id": "edge1", "routing": routing})
    assert added.status_code == 201, added.text
    node = await reporting(lite)
    await node.post("heartbeat", Heartbeat(agent_version="1", uptime_seconds=1).model_dump_json())
    await node.tell_whole(TABLE)
    names = ("rl_willow", "rl_unknown", "somebody")
    snapshot = RuntimeSnapshot(taken_at=node.office.clock(), protocols=tuple(map(session, names)))
    assert (await node.post("snapshot", snapshot.model_dump_json())).status_code == 204
    peering = {
        "node_id": "edge1",
        "name": "willow",
        "asn": 4242429901,
        "session": {"neighbor6": "fe80::801"},
        "link": {"kind": "plain", "interface": "eth1"},
    }
    made = await node.office.admin.post("/api/v1/peerings", json=peering)
    assert made.status_code == 201, made.text
    text = (await node.office.admin.get("/metrics/fleet")).text
    assert 'routeloom_node_prefixes{family="ipv4",node="edge1"} 2.0' in text
    assert 'routeloom_node_up{node="edge1"} 1.0' in text
    assert "unknown" not in text
    assert "somebody" not in text
    assert 'routeloom_session_up{node="edge1",session="rl_willow"} 1.0' in text
    assert 'channel="ipv4",kind="imported",node="edge1",session="rl_willow"} 7.0' in text
    assert 'kind="exported"' not in text, "what is not known has no value"
    assert (await node.office.outside.get("/metrics/fleet")).status_code == 401
