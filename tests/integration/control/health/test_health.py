"""Health as reports come in: facts, changes, incidents, and what the cache forgets."""

from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import event

from control_server.agents.dependencies import open_link
from control_server.agents.models import Agent
from control_server.agents.service import AgentLink, Switchboard
from control_server.health import tasks
from control_server.health.dependencies import health_of, recorder_of, watch_of
from control_server.health.schemas import State
from control_server.health.service import HealthService
from control_server.incidents.dependencies import incidents_as_text
from control_server.incidents.repository import IncidentRepository
from control_server.incidents.schemas import Wanted
from control_server.nodes.errors import NodeNotFound
from control_server.nodes.models import Node
from control_server.observations.service import Listening
from shared.protocol.fleet import ApplyError, ApplyResult, ApplyState, Part, RuntimeSnapshot, Sight
from shared.protocol.frames import Heartbeat
from shared.testing.servers import KeyValueServer
from tests.integration.control.flaps.conftest import database_url as database_url  # noqa: PLC0414
from tests.integration.control.flaps.stage import HOLD_TIMER, Stage, add_node, open_stage

BEAT = Heartbeat(agent_version="1", uptime_seconds=1, memory_used_bytes=1, memory_total_bytes=4)


class Town:
    """A stage whose nodes have agents that are heard."""

    def __init__(self, stage: Stage) -> None:
        self.stage = stage
        self.link: AgentLink = open_link(stage.resources, Switchboard())

    @property
    def health(self) -> HealthService:
        return health_of(self.stage.resources, self.link)

    async def settle(self, node_id: str = "r1") -> None:
        await add_node(self.stage.resources, node_id)
        async with self.stage.resources.database.transaction() as session:
            now = self.stage.clock()
            session.add(
                Agent(
                    node_id=node_id,
                    public_key=f"key of {node_id}",
                    keys=None,
                    enrolled_at=now,
                    connected_at=now,
                    disconnected_at=None,
                    last_seen_at=now,
                )
            )

    async def tell(self, report: Any = None) -> None:
        observers = [tasks.observer(self.stage.resources)]
        listening = Listening(self.stage.resources.database, self.stage.clock, observers)
        await listening.take("r1", report or self.stage.router.snapshot(self.stage.clock()))

    async def pass_by(self, seconds: float, *, heard: bool = True, seen: bool = True) -> None:
        self.stage.clock.turn(timedelta(seconds=seconds))
        if heard:
            await self.link.hear("r1", BEAT)
        if seen:
            await self.tell()
        await watch_of(self.stage.resources, self.link).look()

    async def incidents(self, *, open_only: bool = True) -> list[tuple[str, str, bool]]:
        async with self.stage.resources.database.reading() as session:
            wanted = Wanted.OPEN if open_only else Wanted.ALL
            rows = await IncidentRepository(session).list_latest(state=wanted, node_id=None, limit=50)
        return [(row.kind, row.subject, row.closed_at is None) for row in rows]

    async def maintain(self, wanted: dict[str, Any] | None) -> None:
        async with self.stage.resources.database.transaction() as session:
            node = await session.get(Node, "r1")
            assert node is not None
            node.maintenance = wanted


@pytest.fixture
async def town(database_url: str, redis: KeyValueServer, tmp_path: Path) -> AsyncIterator[Town]:
    async with open_stage(database_url, tmp_path, cache=f"{redis.url}/1") as stage:
        town = Town(stage)
        await recorder_of(stage.resources).forget("r1")
        await town.settle()
        await town.link.hear("r1", BEAT)
        yield town


class TestHealth:
    async def test_a_report_is_judged_at_once_whatever_is_remembered(self, town: Town) -> None:
        await town.tell()
        assert (await town.health.node("r1")).sessions.established == 3
        assert (await town.health.fleet()).sessions.established == 3
        town.stage.router.drop("f", town.stage.clock())
        town.stage.clock.turn(timedelta(seconds=1))
        await town.tell()
        node = await town.health.node("r1")
        assert (node.state, node.sessions.down, node.session_list[0].name) == (State.OK, 1, "f")
        assert node.session_list[0].error == HOLD_TIMER
        assert [(i.kind, i.subject) for i in await town.health.issues()] == [("session_down", "f")]

    async def test_a_node_that_never_reported_is_shown_and_one_that_is_not_there_is_not(
        self, town: Town
    ) -> None:
        await add_node(town.stage.resources, "r2")
        fleet = await town.health.fleet()
        assert {node.node_id: node.state for node in fleet.nodes}["r2"] is State.UNKNOWN
        with pytest.raises(NodeNotFound):
            await town.health.node("r3")

    async def test_changes_are_kept_once_however_many_watch(self, town: Town) -> None:
        await town.pass_by(1)
        await town.pass_by(400, heard=False, seen=False)
        await watch_of(town.stage.resources, town.link).look()
        await town.pass_by(1)
        told = [(c.part, c.before, c.after) for c in reversed(await town.health.history("r1"))]
        assert [change for change in told if change[0] == "overall"] == [
            ("overall", State.UNKNOWN, State.OK),
            ("overall", State.OK, State.DOWN),
            ("overall", State.DOWN, State.OK),
        ]

    async def test_a_failed_apply_is_said_with_its_reason_and_ends(self, town: Town) -> None:
        def result(state: ApplyState, *errors: ApplyError) -> ApplyResult:
            now = town.stage.clock()
            return ApplyResult(generation=1, status=state, errors=errors, started_at=now, finished_at=now)

        await town.tell(
            result(ApplyState.FAILED, ApplyError(step="validate", code="x", detail="syntax error"))
        )
        node = await town.health.node("r1")
        assert (node.state, node.reasons[0].code, node.reasons[0].detail) == (
            State.DEGRADED,
            "apply_failed",
            "syntax error",
        )
        await town.pass_by(1)
        assert await town.incidents() == [("apply_failed", "", True)]
        await town.tell(result(ApplyState.APPLIED))
        await town.pass_by(1)
        assert await town.incidents() == []
        assert (await town.health.node("r1")).state is State.OK


class TestIncidents:
    async def test_a_session_that_is_down_opens_one_and_closes_the_same(self, town: Town) -> None:
        await town.pass_by(1)
        town.stage.router.drop("f", town.stage.clock())
        await town.pass_by(60)
        assert await town.incidents() == []
        await town.pass_by(90)
        assert await town.incidents() == [("session_down", "f", True)]
        before = await incidents_as_text(town.stage.resources)
        town.stage.router.rise("f", town.stage.clock())
        await town.pass_by(60)
        assert await town.incidents() == [("session_down", "f", True)]
        await town.pass_by(130)
        assert await town.incidents(open_only=False) == [("session_down", "f", False)]
        assert await incidents_as_text(town.stage.resources) != before

    async def test_one_that_comes_and_goes_is_one_incident(self, town: Town) -> None:
        """F8"""
        await town.pass_by(1)
        for _ in range(5):
            town.stage.router.drop("f", town.stage.clock())
            await town.pass_by(130)
            town.stage.router.rise("f", town.stage.clock())
            await town.pass_by(60)
        assert await town.incidents(open_only=False) == [("session_down", "f", True)]

    async def test_maintenance_opens_none_and_ends_none(self, town: Town) -> None:
        await town.pass_by(1)
        town.stage.router.drop("f", town.stage.clock())
        await town.pass_by(130)
        await town.maintain({"reason": "disk", "since": town.stage.clock().isoformat()})
        town.stage.router.rise("f", town.stage.clock())
        town.stage.router.drop("g", town.stage.clock())
        await town.pass_by(600)
        assert await town.incidents() == [("session_down", "f", True)]
        await town.maintain(None)
        await town.pass_by(1)
        assert sorted(await town.incidents()) == [("session_down", "f", True), ("session_down", "g", True)]

    async def test_a_node_that_is_lost_ends_nothing(self, town: Town) -> None:
        await town.pass_by(1)
        town.stage.router.drop("f", town.stage.clock())
        await town.pass_by(130)
        await town.pass_by(3600, heard=False, seen=False)
        await town.pass_by(3600, heard=False, seen=False)
        assert await town.incidents() == [("session_down", "f", True)]

    async def test_an_agent_that_speaks_and_does_not_tell_is_noticed(self, town: Town) -> None:
        """F6"""
        await town.pass_by(1)
        await town.pass_by(1000, seen=False)
        assert await town.incidents() == [("monitoring_degraded", "", True)]

    async def test_a_bird_that_is_away_is_noticed_and_its_sessions_are_not_down(self, town: Town) -> None:
        await town.pass_by(1)
        gone = Part(sight=Sight.UNAVAILABLE, reason="no such socket")
        for _ in range(2):
            town.stage.clock.turn(timedelta(seconds=130))
            await town.tell(RuntimeSnapshot(taken_at=town.stage.clock(), routing=gone))
            await town.pass_by(1, seen=False)
        assert await town.incidents() == [("routing_unavailable", "", True)]
        assert (await town.health.node("r1")).sessions.unknown == 3


async def test_no_number_of_nodes_takes_more_statements(town: Town) -> None:
    counted: list[str] = []

    def count(*arguments: object) -> None:
        counted.append(str(arguments[2]))

    async with town.stage.resources.database.reading() as session:
        engine = session.get_bind().engine
    numbers = []
    event.listen(engine, "before_cursor_execute", count)
    try:
        for more in (0, 10):
            for number in range(more):
                await town.settle(f"n{number}")
            await recorder_of(town.stage.resources).forget("r1")
            counted.clear()
            assert (await town.health.fleet()).total == more + 1
            numbers.append(len([text for text in counted if text.startswith("SELECT")]))
    finally:
        event.remove(engine, "before_cursor_execute", count)
    assert numbers[0] == numbers[1] > 0
