"""The dashboard and the tabs of a node: what they say, and how often they ask the database."""

from collections import defaultdict

import pytest

from tests.integration.control.conftest import signed_in
from tests.integration.control.enrolment.office import Office
from tests.integration.control.fleet.test_statements import counted, more
from tests.integration.control.portal.large_fleet import FIRST, grow, report_everything

TABS = (f"/nodes/{FIRST}", f"/nodes/{FIRST}/routing", f"/nodes/{FIRST}/traffic", f"/nodes/{FIRST}/events")

FLEET = (
    "/",
    "/?range=7d",
    "/nodes",
    "/nodes?q=sim&sort=seen",
    "/traffic",
    "/traffic?range=30d",
    "/routing",
    "/routing/prefix?prefix=10.0.0.0/8",
    "/flaps",
    "/incidents",
    "/alerts",
    "/audit",
    "/probes",
    "/api/v1/peerings",
    "/api/v1/health",
    "/api/v1/health/issues",
    "/api/v1/nodes",
    "/api/v1/traffic",
    "/api/v1/routing",
    "/api/v1/flaps",
    "/metrics/fleet",
)


@pytest.fixture
async def reported(on_each_database: Office) -> Office:
    await report_everything(on_each_database)
    return on_each_database


async def page(office: Office, path: str, headers: dict[str, str]) -> str:
    answer = await office.outside.get(path, headers={**headers, "Accept": "text/html"})
    assert answer.status_code == 200, (path, answer.text[:400])
    return answer.text


async def test_pages_tell_what_agents_have_told(reported: Office) -> None:
    headers = await signed_in(reported)
    dashboard = await page(reported, "/", headers)
    for told in (FIRST, "7 of 8", "Session down", "Traffic now", "prefixes", "RPKI", "fleet-traffic"):
        assert told in dashboard, told
    overview, routing, traffic, events = [await page(reported, tab, headers) for tab in TABS]
    assert "Hold timer expired" in overview
    assert "peer01" in routing
    assert "wg-peer01" in traffic
    assert "Link" in events or "Nothing has happened yet" in events


async def test_a_fleet_without_nodes_is_told_what_to_do(lite: Office) -> None:
    text = await page(lite, "/", await signed_in(lite))
    assert "No nodes yet" in text
    assert "/enrolment" in text


async def test_a_node_that_has_told_nothing_is_shown(lite: Office) -> None:
    await lite.admin.post("/api/v1/nodes", json={"node_id": FIRST})
    headers = await signed_in(lite)
    for path in ("/", *TABS):
        assert FIRST in await page(lite, path, headers)


@pytest.mark.timeout(240)
async def test_no_page_asks_more_often_for_more_nodes(reported: Office) -> None:
    headers = await signed_in(reported)
    asked: defaultdict[str, list[list[str]]] = defaultdict(list)
    present = 1
    # A database of its own is slow to fill, and the statements are the same ones.
    sizes = (10, 100, 1000) if reported.resources.database.dialect == "sqlite" else (10, 100)
    for size in sizes:
        await grow(reported, present, size)
        present = size
        for path in (*FLEET, *TABS):
            with counted() as found:
                await page(reported, path, headers)
            asked[path].append(found)
    for path, times in asked.items():
        assert more(*times) == [], path


@pytest.mark.parametrize("wanted", ["2h", "6h", "24h", "7d", "30d", "90d"])
async def test_every_range_of_traffic_is_drawn(lite: Office, wanted: str) -> None:
    await report_everything(lite)
    headers = await signed_in(lite)
    assert "node-traffic" in await page(lite, f"/nodes/{FIRST}/traffic?range={wanted}", headers)
