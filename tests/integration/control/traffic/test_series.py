"""Traffic over time as readers see it: holes stay holes, and a period stands beside the one before."""

from datetime import timedelta

import pytest

from tests.integration.control.enrolment.office import Office
from tests.integration.control.fleet_reports import ReportingNode, reporting
from tests.integration.control.traffic.reading import HALF_MINUTE, run, series


@pytest.fixture
async def node(lite: Office) -> ReportingNode:
    return await reporting(lite)


class TestHoles:
    async def test_a_silence_is_a_hole_and_not_smeared_over(self, node: ReportingNode) -> None:
        await run(node, 0, 3000)
        node.office.clock.turn(timedelta(minutes=15))
        await node.count(after=900, wg_f=900_000)
        node.office.clock.turn(HALF_MINUTE)
        await node.count(wg_f=903_000)
        found = (await series(node, "6h"))["series"][0]
        assert found["total"]["received_bytes"] == 6000
        points = found["points"]["received"]
        assert points[-1] == pytest.approx(800)
        assert points[-3:-1] == [None, None]
        assert max(value for value in points if value is not None) == pytest.approx(800)

    async def test_a_quiet_link_is_zero(self, node: ReportingNode) -> None:
        await run(node, 5, 5)
        assert set((await series(node, "6h"))["series"][0]["points"]["received"]) == {0, None}

    async def test_a_node_that_never_reported_has_nothing(self, node: ReportingNode) -> None:
        found = await series(node, "24h")
        assert set(found["series"][0]["points"]["received"]) == {None}
        assert found["series"][0]["total"]["received_bytes"] is None


class TestPeriods:
    async def test_the_period_before_stands_beside(self, node: ReportingNode) -> None:
        await run(node, 0, 3000)
        node.office.clock.turn(timedelta(hours=24))
        await node.count(after=86_400, wg_f=10_000)
        await node.count(wg_f=10_900)
        total = (await series(node, "24h"))["series"][0]["total"]
        assert (total["received_bytes"], total["previous_received_bytes"]) == (900, 3000)

    @pytest.mark.parametrize("wanted", ["2h", "6h", "24h", "7d", "30d", "90d"])
    async def test_has_a_bounded_number_of_points(self, node: ReportingNode, wanted: str) -> None:
        await run(node, 0, 3000)
        found = (await series(node, wanted))["series"][0]
        assert 0 < len(found["points"]["received"]) <= 240
        assert {len(values) for values in found["points"].values()} == {len(found["points"]["received"])}


class TestLinks:
    async def test_the_busiest_is_first(self, node: ReportingNode) -> None:
        await node.count(wg_f=0, wg_g=0)
        await node.count(wg_f=300, wg_g=6000)
        found = (await node.office.admin.get(f"/api/v1/nodes/{node.node_id}/traffic/links")).json()
        assert [item["interface"] for item in found["items"]] == ["wg-g", "wg-f"]
        assert found["items"][0]["received_peak"] == pytest.approx(8 * 200)

    async def test_an_unknown_link_is_said_to_be_one(self, node: ReportingNode) -> None:
        path = f"/api/v1/nodes/{node.node_id}/traffic"
        refused = await node.office.admin.get(path, params={"interface": "wg-nowhere"})
        assert (refused.status_code, refused.json()["code"]) == (404, "traffic_link_unknown")

    async def test_an_unknown_node_is_said_to_be_one(self, node: ReportingNode) -> None:
        for path in ("traffic", "traffic/links"):
            refused = await node.office.admin.get(f"/api/v1/nodes/nowhere/{path}")
            assert (refused.status_code, refused.json()["code"]) == (404, "node_not_found")
