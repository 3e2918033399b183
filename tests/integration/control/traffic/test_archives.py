"""Samples over HTTP, kept on both databases: each counts once, holes stay holes."""

import asyncio
from datetime import timedelta

import pytest

from control_server.traffic.dependencies import traffic_retention
from shared.durable import QueuedJob
from tests.integration.control.enrolment.office import Office
from tests.integration.control.fleet_reports import ReportingNode, reporting
from tests.integration.control.traffic.reading import received, run


@pytest.fixture
async def node(on_each_database: Office) -> ReportingNode:
    return await reporting(on_each_database)


class TestTotals:
    async def test_are_what_the_counters_say(self, node: ReportingNode) -> None:
        await run(node, 1000, 4000, 10_000)
        assert await received(node) == 9000
        assert await received(node, "90d") == 9000

    async def test_a_sample_that_comes_again_counts_once(self, node: ReportingNode) -> None:
        await node.count(wg_f=1000)
        again = node.sample(wg_f=5000)
        await asyncio.gather(*(node.send_sample(again) for _ in range(4)))
        assert await received(node) == 4000

    async def test_an_older_sample_changes_nothing(self, node: ReportingNode) -> None:
        first, second = node.sample(wg_f=1000), node.sample(wg_f=3000)
        await node.send_sample(second)
        await node.send_sample(first)
        await run(node, 7000)
        assert await received(node) == 4000

    async def test_a_link_that_was_reset_leaves_the_others_alone(self, node: ReportingNode) -> None:
        await node.count(wg_f=100_000, wg_g=0)
        await node.count(wg_f=10, wg_g=500)
        await node.count(wg_f=310, wg_g=600)
        assert await received(node) == 900
        assert await received(node, interface="wg-f") == 300

    async def test_an_agent_that_began_anew_loses_nothing(self, node: ReportingNode) -> None:
        await run(node, 1000)
        node.stream, node.samples = "two", 0
        await run(node, 3000)
        assert await received(node) == 2000

    async def test_a_host_that_began_anew_counts_from_there(self, node: ReportingNode) -> None:
        await run(node, 1000)
        node.stream, node.boot_id, node.samples, node.monotonic = "two", "other", 0, 5.0
        await run(node, 400, 700)
        assert await received(node) == 300

    async def test_the_wall_clock_may_step(self, node: ReportingNode) -> None:
        await node.count(wg_f=0)
        stepped = node.sample(wg_f=3000).model_copy(
            update={"taken_at": node.office.clock() - timedelta(days=400)}
        )
        await node.send_sample(stepped)
        assert await received(node) == 3000


class TestFleet:
    async def test_adds_up_over_nodes(self, node: ReportingNode) -> None:
        other = await reporting(node.office, "edge2")
        for one, values in ((node, (0, 3000)), (other, (0, 600))):
            for value in values:
                await one.count(wg_f=value)
        found = (await node.office.admin.get("/api/v1/traffic?range=6h")).json()
        assert found["total"]["total"]["received_bytes"] == 3600
        by_node = {entry["node_id"]: entry["received_bytes"] for entry in found["nodes"]}
        assert by_node == {"edge1": 3000, "edge2": 600}


class TestRetention:
    async def test_forgets_by_batches_and_keeps_what_is_younger(self, node: ReportingNode) -> None:
        await run(node, 0, 3000)
        node.office.clock.turn(timedelta(days=3))
        await node.count(after=300_000, wg_f=3000)
        await node.count(wg_f=3500)
        keep = traffic_retention(node.office.resources)
        small = type(keep)(keep.database, keep.keep_fine, keep.keep_coarse, keep.now, batch=1)
        await small.archives(QueuedJob("x", "retention.traffic"))
        assert await received(node, "6h") == 500
        assert await received(node, "7d") == 3500
        node.office.clock.turn(timedelta(days=92))
        await small.archives(QueuedJob("x", "retention.traffic"))
        node.office.clock.turn(timedelta(days=-92))
        assert await received(node, "90d") is None
