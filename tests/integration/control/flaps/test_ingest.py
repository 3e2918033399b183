"""Snapshots and prefix reports become scores, facts and incidents: on each database, in each place."""

import asyncio
from datetime import timedelta

import pytest

from control_server.flaps.schemas import ChangeKind, EventKind, Level, SessionState, SubjectKind
from control_server.incidents.schemas import IncidentKind, IncidentRead
from control_server.incidents.service import IncidentLedger
from control_server.nodes.models import Node
from tests.integration.control.flaps.stage import HOLD_TIMER, Router, Session, Stage, add_node

PREFIX = "172.20.0.0/24"


async def incidents(stage: Stage) -> list[IncidentRead]:
    async with stage.resources.database.reading() as session:
        return await IncidentLedger.within(session).list_open(list(IncidentKind))


async def four_drops(stage: Stage) -> None:
    """A minute apart: the fourth trips it."""
    await stage.tell()
    for _ in range(4):
        stage.clock.turn(timedelta(seconds=60))
        stage.router.flap("f", stage.clock() - timedelta(seconds=5))
        await stage.tell()


class TestSessions:
    async def test_a_drop_is_scored_told_and_explained(self, stage: Stage) -> None:
        await stage.tell()
        stage.router.drop("f", stage.clock() + timedelta(seconds=100))
        await stage.pass_by()
        found = {read.subject: read for read in await stage.flaps.node("r1")}
        assert found["f"].score == pytest.approx(1000 * 2 ** (-200 / 1800), abs=0.2)
        assert (found["f"].state, found["f"].last_error) == (SessionState.DOWN, HOLD_TIMER)
        assert (found["g"].score, found["g"].state) == (0, SessionState.ESTABLISHED)
        why = await stage.flaps.session("r1", "f")
        assert (why.drops, why.history[0].reason) == (1, HOLD_TIMER)
        assert (why.history[0].before, why.history[0].after) == (0, 1000)

    async def test_four_drops_open_one_incident_which_closes_when_it_clears(self, stage: Stage) -> None:
        """F7, F8: one row, opened and closed with the same id."""
        await four_drops(stage)
        opened = await incidents(stage)
        assert [(i.kind, i.subject) for i in opened] == [(IncidentKind.SESSION_FLAPPING, "f")]
        why = await stage.flaps.session("r1", "f")
        assert (why.drops, why.now.level) == (4, Level.FLAPPING)
        assert why.reached_at is not None
        assert [round(event.after, 1) for event in why.history] == [1000.0, 1977.2, 2932.0, 3865.0]
        clears_at = why.now.clears_at
        assert clears_at is not None
        stage.clock.at = clears_at - timedelta(seconds=1)
        await stage.watch()
        assert [i.id for i in await incidents(stage)] == [opened[0].id]
        stage.clock.at = clears_at + timedelta(seconds=1)
        await stage.watch()
        assert await incidents(stage) == []

    async def test_one_that_is_down_is_not_over_however_low_its_score(self, stage: Stage) -> None:
        await four_drops(stage)
        stage.router.drop("f", stage.clock() + timedelta(seconds=10))
        await stage.pass_by(60)
        stage.clock.turn(timedelta(hours=3))
        await stage.watch()
        assert len(await incidents(stage)) == 1
        stage.router.rise("f", stage.clock())
        await stage.pass_by(60)
        await stage.watch()
        assert await incidents(stage) == []

    async def test_a_snapshot_that_comes_twice_is_charged_once(self, stage: Stage) -> None:
        """F10"""
        await stage.tell()
        stage.router.drop("f", stage.clock() + timedelta(seconds=100))
        stage.clock.turn(timedelta(seconds=300))
        snapshot = stage.router.snapshot(stage.clock())
        await asyncio.gather(*(stage.tell(snapshot=snapshot) for _ in range(6)))
        assert (await stage.flaps.session("r1", "f")).now.events == 1
        assert len(await stage.flaps.transitions("r1")) == 1

    async def test_a_connection_that_was_replaced_changes_nothing(self, stage: Stage) -> None:
        await stage.tell(fencing_token=2)
        stage.router.drop("f", stage.clock() + timedelta(seconds=100))
        stage.clock.turn(timedelta(seconds=300))
        await stage.tell(fencing_token=1)
        assert await stage.score("f") == 0
        await stage.tell(fencing_token=2)
        assert await stage.score("f") > 0

    async def test_maintenance_charges_nobody_and_is_noted(self, stage: Stage) -> None:
        await stage.tell()
        async with stage.resources.database.transaction() as session:
            node = await session.get(Node, "r1")
            assert node is not None
            node.maintenance = {"reason": "new disk"}
        stage.router.drop("f", stage.clock() + timedelta(seconds=100))
        await stage.pass_by()
        assert await stage.score("f") == 0
        assert [(t.event, t.weight, t.reason_class) for t in await stage.flaps.transitions("r1")] == [
            (EventKind.LEFT, 0, "maintenance")
        ]

    async def test_most_of_a_node_at_once_is_the_nodes(self, stage: Stage) -> None:
        await stage.tell()
        for name in ("f", "g"):
            stage.router.drop(name, stage.clock() + timedelta(seconds=100))
        await stage.pass_by()
        found = {(read.kind, read.subject): read.score for read in await stage.flaps.node("r1")}
        assert found[SubjectKind.NODE, ""] > 0
        assert found[SubjectKind.SESSION, "f"] == found[SubjectKind.SESSION, "g"] == 0


class TestPrefixes:
    async def test_changes_are_charged_and_a_round_without_a_base_is_no_rate(self, stage: Stage) -> None:
        begin = stage.clock()
        await stage.report((PREFIX, ChangeKind.CHANGED))
        assert await stage.flaps.rates("r1", begin) == []
        stage.clock.turn(timedelta(seconds=60))
        await stage.report((PREFIX, ChangeKind.WITHDRAWN), ("10.0.0.0/8", ChangeKind.ANNOUNCED))
        rates = await stage.flaps.rates("r1", begin)
        assert [(r.seconds, r.updates, r.withdrawals, r.changes) for r in rates] == [(60, 2, 1, 0)]
        assert await stage.score(PREFIX) == pytest.approx(1000 + 500 * 2 ** (-60 / 1800), abs=0.2)

    async def test_five_withdrawals_open_an_incident(self, stage: Stage) -> None:
        for _ in range(5):
            stage.clock.turn(timedelta(seconds=60))
            await stage.report((PREFIX, ChangeKind.WITHDRAWN))
        assert [(i.kind, i.subject) for i in await incidents(stage)] == [
            (IncidentKind.PREFIX_FLAPPING, PREFIX)
        ]
        why = await stage.flaps.prefix("r1", PREFIX)
        assert (why.now.events, why.now.level) == (5, Level.FLAPPING)
        overview = await stage.flaps.overview(SubjectKind.PREFIX)
        assert [(read.subject, read.level) for read in overview.items] == [(PREFIX, Level.FLAPPING)]

    async def test_writers_that_race_charge_every_report_once(self, stage: Stage) -> None:
        """Each holds one report; whoever is overtaken does it again."""
        await stage.report()
        prefixes = [f"10.{number}.0.0/16" for number in range(12)]
        await asyncio.gather(
            *(
                stage.report((prefix, ChangeKind.WITHDRAWN), (PREFIX, ChangeKind.CHANGED))
                for prefix in prefixes
            )
        )
        found = {
            read.subject: read for read in await stage.flaps.node("r1") if read.kind is SubjectKind.PREFIX
        }
        assert {found[prefix].score for prefix in prefixes} == {1000.0}
        assert found[PREFIX].events == len(prefixes)
        assert found[PREFIX].score == pytest.approx(500 * len(prefixes))


class TestReading:
    async def test_the_fleet_takes_as_many_statements_as_one_node(self, lite_stage: Stage) -> None:
        from sqlalchemy import event

        counted: list[str] = []

        def count(*arguments: object) -> None:
            counted.append(str(arguments[2]))

        numbers = []
        for nodes in (1, 8):
            for number in range(nodes):
                node_id = f"n{number}"
                await add_node(lite_stage.resources, node_id)
                lite_stage.router = Router(
                    node_id, {"f": Session("f", lite_stage.clock() - timedelta(hours=1))}
                )
                await lite_stage.tell()
                await lite_stage.report((PREFIX, ChangeKind.CHANGED))
            async with lite_stage.resources.database.reading() as session:
                engine = session.get_bind().engine
            event.listen(engine, "before_cursor_execute", count)
            counted.clear()
            await lite_stage.flaps.overview()
            event.remove(engine, "before_cursor_execute", count)
            numbers.append(len([text for text in counted if text.startswith("SELECT")]))
        assert numbers[0] == numbers[1] > 0
