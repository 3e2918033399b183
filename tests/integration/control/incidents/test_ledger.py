"""One row an incident, whoever finds it and however often."""

import asyncio
from datetime import timedelta
from uuid import UUID

import pytest

from control_server.incidents.rules import SCORED, counts_as_incident, patience_of
from control_server.incidents.schemas import Finding, IncidentKind, IncidentRead
from control_server.incidents.service import IncidentLedger
from tests.integration.control.flaps.conftest import database_url as database_url  # noqa: PLC0414
from tests.integration.control.flaps.conftest import kv_url as kv_url  # noqa: PLC0414
from tests.integration.control.flaps.conftest import stage as stage  # noqa: PLC0414
from tests.integration.control.flaps.stage import Stage

pytestmark = pytest.mark.parametrize("kv_url", ["sql"], indirect=True)


def finding(stage: Stage, subject: str = "f", kind: IncidentKind = IncidentKind.SESSION_DOWN) -> Finding:
    return Finding(kind, "r1", subject, stage.clock() - timedelta(minutes=5))


async def opened(stage: Stage, what: Finding) -> UUID | None:
    async with stage.resources.database.transaction() as session:
        return await IncidentLedger.within(session).open(what, stage.clock())


async def closed(stage: Stage, incident: UUID) -> bool:
    async with stage.resources.database.transaction() as session:
        return await IncidentLedger.within(session).close(incident, stage.clock())


async def reconcile(stage: Stage, *findings: Finding, held: frozenset[str] = frozenset()) -> None:
    async with stage.resources.database.transaction() as session:
        await IncidentLedger.within(session).reconcile(findings, held, stage.clock())


async def all_open(stage: Stage) -> list[IncidentRead]:
    async with stage.resources.database.reading() as session:
        return await IncidentLedger.within(session).list_open(list(IncidentKind))


async def test_of_many_who_open_one_does_and_of_many_who_close_one_does(stage: Stage) -> None:
    made = [
        ident for ident in await asyncio.gather(*(opened(stage, finding(stage)) for _ in range(8))) if ident
    ]
    assert len(made) == 1
    ended = await asyncio.gather(*(closed(stage, made[0]) for _ in range(8)))
    assert sorted(ended) == [False] * 7 + [True]
    again = await opened(stage, finding(stage))
    assert again not in {None, made[0]}


async def test_watchers_that_find_the_same_make_one_row(stage: Stage) -> None:
    await asyncio.gather(*(reconcile(stage, finding(stage)) for _ in range(6)))
    assert [incident.subject for incident in await all_open(stage)] == ["f"]


async def test_it_has_to_be_well_for_a_while(stage: Stage) -> None:
    await reconcile(stage, finding(stage))
    (first,) = await all_open(stage)
    for _ in range(3):
        await reconcile(stage)
        stage.clock.turn(timedelta(seconds=100))
        await reconcile(stage, finding(stage))
        stage.clock.turn(timedelta(seconds=100))
    assert [incident.id for incident in await all_open(stage)] == [first.id]
    await reconcile(stage)
    stage.clock.turn(patience_of(IncidentKind.SESSION_DOWN).before_closing)
    await reconcile(stage)
    assert await all_open(stage) == []


async def test_what_is_held_waits_and_says_so(stage: Stage) -> None:
    await reconcile(stage, finding(stage))
    for _ in range(3):
        stage.clock.turn(timedelta(hours=1))
        await reconcile(stage, finding(stage, "g"), held=frozenset({"r1"}))
    assert [(incident.subject, incident.held) for incident in await all_open(stage)] == [("f", True)]


async def test_what_follows_a_score_is_left_to_it(stage: Stage) -> None:
    for kind in SCORED:
        assert await opened(stage, finding(stage, kind=kind)) is not None
    for _ in range(3):
        stage.clock.turn(timedelta(hours=1))
        await reconcile(stage)
    assert {incident.kind for incident in await all_open(stage)} == SCORED


async def test_a_moment_is_no_incident(stage: Stage) -> None:
    now = stage.clock()
    assert not counts_as_incident(IncidentKind.SESSION_DOWN, now - timedelta(seconds=119), now)
    assert counts_as_incident(IncidentKind.SESSION_DOWN, now - timedelta(seconds=120), now)
    assert counts_as_incident(IncidentKind.APPLY_FAILED, now, now)
