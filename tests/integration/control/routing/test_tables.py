"""Prefix reports over HTTP, kept on both databases."""

import asyncio
from datetime import timedelta
from typing import Any

import pytest

from control_server.routing.schemas import BestKind, ChangeCause
from control_server.routing.service import HeardBestPaths, RouteRetention, TableKeeper
from shared.durable import QueuedJob
from shared.protocol.reports import PrefixReport
from tests.integration.control.enrolment.office import Office
from tests.integration.control.fleet_reports import ReportingNode, reporting, route
from tests.integration.control.routing.reading import TABLE, get, prefixes


@pytest.fixture
async def node(on_each_database: Office) -> ReportingNode:
    return await reporting(on_each_database)


class TestReports:
    async def test_the_whole_then_what_changed(self, node: ReportingNode) -> None:
        assert (await node.tell_whole(TABLE))["resynchronise"] is False
        await node.tell({"10.1.2.0/24": [], "10.3.0.0/16": [route()]})
        assert await prefixes(node) == ["10.1.0.0/16", "10.3.0.0/16", "fd42:9901::/48"]

    async def test_a_report_that_comes_again_is_only_acknowledged(self, node: ReportingNode) -> None:
        await node.tell_whole(TABLE)
        change = node.report({"10.1.2.0/24": []})
        answers = await asyncio.gather(*(node.send(change) for _ in range(4)))
        assert {answer["resynchronise"] for answer in answers} == {False}
        history = await get(node, f"nodes/{node.node_id}/route-changes")
        assert [(change["prefix"], change["kind"]) for change in history] == [("10.1.2.0/24", "withdrawn")]

    async def test_a_report_out_of_step_asks_for_the_whole(self, node: ReportingNode) -> None:
        await node.tell_whole(TABLE)
        node.report({"10.3.0.0/16": [route()]})  # it is lost on the way
        assert (await node.tell({"10.4.0.0/16": [route()]}))["resynchronise"] is True
        assert "10.4.0.0/16" not in await prefixes(node)
        assert (await node.tell_whole(TABLE | {"10.3.0.0/16": [route()]}))["resynchronise"] is False
        assert "10.3.0.0/16" in await prefixes(node)

    async def test_a_whole_in_parts_withdraws_only_at_its_end(self, node: ReportingNode) -> None:
        await node.tell_whole(TABLE)
        await node.tell_whole({"10.1.0.0/16": TABLE["10.1.0.0/16"]}, complete=False)
        assert len(await prefixes(node)) == 3
        await node.tell({"10.7.0.0/16": [route()]})
        assert await prefixes(node) == ["10.1.0.0/16", "10.7.0.0/16"]

    async def test_a_whole_that_was_given_up_is_begun_again(self, node: ReportingNode) -> None:
        await node.tell_whole({"10.1.0.0/16": [route()]}, complete=False)
        node.stream, node.sequence = "two", 0
        await node.tell_whole({"10.2.0.0/16": [route()]})
        assert await prefixes(node) == ["10.2.0.0/16"]

    async def test_a_look_that_saw_nothing_withdraws_nothing(self, node: ReportingNode) -> None:
        await node.tell_whole(TABLE)
        await node.tell({}, sight="unavailable", reason="bird does not answer")
        found = await get(node, f"nodes/{node.node_id}/routing")
        assert (found["sight"], found["reason"]) == ("unavailable", "bird does not answer")
        assert found["prefixes4"] == 2
        assert (await node.tell({"10.1.2.0/24": []}))["resynchronise"] is False

    @pytest.mark.parametrize("payload", ["broken", "eJyLjgUAARUAuQ=="])
    async def test_what_cannot_be_read_is_refused(self, node: ReportingNode, payload: str) -> None:
        report = node.report({"10.1.0.0/16": [route()]}, begins=True, payload=payload)
        answer = await node.post("prefixes", report.model_dump_json())
        assert (answer.status_code, answer.json()["code"]) == (422, "prefix_report_refused")

    async def test_what_is_no_prefix_is_refused(self, node: ReportingNode) -> None:
        report = node.report({"10.1.0.0/99": [route()]}, begins=True)
        answer = await node.post("prefixes", report.model_dump_json())
        assert (answer.status_code, answer.json()["code"]) == (422, "prefix_report_refused")

    async def test_a_node_that_is_deleted_takes_its_tables_along(self, node: ReportingNode) -> None:
        await node.tell_whole(TABLE)
        await node.tell({"10.1.2.0/24": []})
        await node.count(wg_f=0)
        await node.count(wg_f=10)
        admin = node.office.admin
        version = (await admin.get("/api/v1/nodes/edge1/facts")).headers["ETag"]
        gone = {"lifecycle": "decommissioned"}
        await admin.patch("/api/v1/nodes/edge1", json=gone, headers={"If-Match": version})
        assert (await admin.delete("/api/v1/nodes/edge1")).status_code == 204
        assert (await get(node, "routing"))["routes"] == 0


class TestHistory:
    async def test_the_first_sight_is_none(self, node: ReportingNode) -> None:
        await node.tell_whole(TABLE)
        assert await get(node, f"nodes/{node.node_id}/route-changes") == []

    async def test_says_what_became_of_a_best_path(self, node: ReportingNode) -> None:
        await node.tell_whole(TABLE)
        await node.tell({"10.1.0.0/16": [route(best=False), route("rl_g")]})
        node.office.clock.turn(timedelta(minutes=1))
        await node.tell({"10.1.0.0/16": []})
        found = (await get(node, "routing/prefix", prefix="10.1.0.0/16"))["history"]
        assert [(entry["kind"], entry["before_protocol"], entry["after_protocol"]) for entry in found] == [
            ("withdrawn", "rl_g", None),
            ("changed", "rl_f", "rl_g"),
        ]

    async def test_a_restart_of_the_daemon_is_told_as_one(self, node: ReportingNode) -> None:
        at = node.office.clock()
        await node.tell_whole(TABLE, daemon_started_at=at)
        await node.tell({"10.1.2.0/24": []}, daemon_started_at=at + timedelta(minutes=1))
        (entry,) = await get(node, f"nodes/{node.node_id}/route-changes")
        assert entry["cause"] == "daemon_restart"

    async def test_is_forgotten_by_batches(self, node: ReportingNode) -> None:
        await node.tell_whole(TABLE)
        for third in range(5):
            await node.tell({f"10.8.{third}.0/24": [route()]})
            node.office.clock.turn(timedelta(days=1))
        resources = node.office.resources
        keep = RouteRetention(resources.database, timedelta(days=3), resources.now, batch=1)
        await keep.changes(QueuedJob("x", "retention.routing"))
        left = await get(node, f"nodes/{node.node_id}/route-changes")
        assert [entry["prefix"] for entry in left] == ["10.8.4.0/24", "10.8.3.0/24", "10.8.2.0/24"]


class Watch:
    """Follows best paths, as scores do."""

    def __init__(self) -> None:
        self.heard: list[HeardBestPaths] = []

    async def begin(self, _node_id: str, _fencing_token: int | None) -> "Watch":
        return self

    async def write(self, _session: Any, heard: HeardBestPaths) -> None:
        self.heard.append(heard)


class TestWatch:
    async def test_hears_each_report_once_and_each_prefix_once(self, node: ReportingNode) -> None:
        resources, watch = node.office.resources, Watch()
        keeper = TableKeeper(resources.database, resources.cache, resources.now, watch)

        async def take(report: PrefixReport) -> None:
            await keeper.take("edge1", report)

        await take(node.report(TABLE, begins=True))
        change = node.report({"10.1.0.0/16": [route("rl_g"), route(best=False)]})
        for _ in range(3):
            await take(change)
        await take(node.report({}))
        assert [(heard.cause, len(heard.changes), heard.updates) for heard in watch.heard] == [
            (ChangeCause.FIRST_SIGHT, 3, 4),
            (ChangeCause.CHANGE, 1, 1),
            (ChangeCause.CHANGE, 0, 0),
        ]
        assert watch.heard[1].changes[0].kind is BestKind.CHANGED
        assert [heard.round for heard in watch.heard] == [1, 2, 3]
