"""Mutes: what they keep quiet, who may, and how they end."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path
from typing import Any

from sqlalchemy import select

from control_server.flaps.dependencies import watch_of
from control_server.flaps.models import FlapMute, FlapTransition
from control_server.flaps.repository import FlapMutes
from control_server.flaps.schemas import ChangeKind, SubjectKind
from control_server.incidents.schemas import IncidentKind, IncidentRead
from control_server.incidents.service import IncidentLedger
from control_server.observations.service import Listening
from shared.testing.servers import valkey_server
from tests.integration.control.conftest import copied, signed_in
from tests.integration.control.enrolment.office import Office
from tests.integration.control.flaps.stage import Router, Stage, open_stage
from tests.integration.control.flaps.test_pages import restless
from tests.integration.control.fleet.test_statements import counted, more

SESSION = {"kind": "session", "subject": "f"}
MUTE = "/api/v1/flaps/r1/mute"


async def mute(office: Office, **wanted: str) -> dict[str, Any]:
    answer = await office.admin.put(MUTE, params={**SESSION, **wanted})
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


async def incidents(office: Office, state: str = "all") -> dict[str, Any]:
    found: dict[str, Any] = (await office.admin.get("/api/v1/incidents", params={"state": state})).json()
    return found


async def flapping(office: Office) -> Mapping[str, Any]:
    (found,) = [item for item in (await incidents(office))["items"] if item["kind"] == "session_flapping"]
    incident: Mapping[str, Any] = found
    return incident


async def row(office: Office, subject: str = "f") -> Mapping[str, Any]:
    items = (await office.admin.get("/api/v1/flaps")).json()["items"]
    found: Mapping[str, Any] = next(item for item in items if item["subject"] == subject)
    return found


async def watch(office: Office) -> None:
    await watch_of(office.resources).look()


class TestOfASession:
    async def test_its_incident_is_recorded_and_not_counted(self, lite_office: Office) -> None:
        await restless(lite_office)
        before = await incidents(lite_office, "open")
        health = (await lite_office.admin.get("/api/v1/health/nodes/r1")).json()["state"]
        told = await mute(lite_office)
        assert (told["level"], told["muted_by"]) == ("flapping", (await row(lite_office))["muted_by"])
        assert (await row(lite_office, "g"))["muted_at"] is None
        listed = await incidents(lite_office, "open")
        assert len(listed["items"]) == len(before["items"])
        assert (listed["open"], listed["muted"]) == (before["open"] - 1, 1)
        assert (await flapping(lite_office))["muted_at"] is not None
        kinds = [item["kind"] for item in (await incidents(lite_office, "counted"))["items"]]
        assert "session_flapping" not in kinds
        assert (await lite_office.admin.get("/api/v1/alerts/deliveries")).json() == []
        assert (await lite_office.admin.get("/api/v1/health/nodes/r1")).json()["state"] == health

    async def test_muting_twice_is_muting_once_and_lifting_twice_is_no_error(
        self, lite_office: Office
    ) -> None:
        await restless(lite_office)
        first = await mute(lite_office)
        lite_office.clock.turn(timedelta(seconds=5))
        assert (await mute(lite_office))["muted_at"] == first["muted_at"]
        for _ in range(2):
            assert (await lite_office.admin.delete(MUTE, params=SESSION)).status_code == 204
        assert (await row(lite_office))["muted_at"] is None
        assert (await flapping(lite_office))["muted_at"] is None
        told = [action for action in await lite_office.actions() if action.startswith("flap.")]
        assert sorted(told) == ["flap.muted", "flap.unmuted"]

    async def test_what_is_stable_or_unknown_cannot_be_muted(self, lite_office: Office) -> None:
        await restless(lite_office)
        for subject, refused in (("g", (409, "flap_steady")), ("x", (404, "flap_unknown"))):
            answer = await lite_office.admin.put(MUTE, params={**SESSION, "subject": subject})
            assert (answer.status_code, answer.json()["code"]) == refused

    async def test_it_ends_by_itself_when_the_score_has_fallen(self, lite_office: Office) -> None:
        await restless(lite_office)
        await mute(lite_office)
        lite_office.clock.turn(timedelta(minutes=30))
        await watch(lite_office)
        assert (await row(lite_office))["muted_at"] is not None
        lite_office.clock.turn(timedelta(minutes=45))
        assert (await row(lite_office))["muted_at"] is None
        await watch(lite_office)
        assert await all_mutes(lite_office) == []
        # It was muted to its end, and is told so for as long as it is kept.
        closed = await flapping(lite_office)
        assert closed["closed_at"] is not None
        assert closed["muted_at"] is not None
        assert (await incidents(lite_office))["muted"] == 0

    async def test_it_ends_when_its_subject_is_forgotten(self, lite_office: Office) -> None:
        await restless(lite_office)
        for subject in ("gone", "f"):
            async with lite_office.resources.database.transaction() as session:
                key = ("r1", SubjectKind.SESSION, subject)
                assert await FlapMutes(session).claim(key, "noc", lite_office.clock())
        await watch(lite_office)
        assert [mute.subject for mute in await all_mutes(lite_office)] == ["f"]
        # The mute stood there before anybody told its incident.
        assert (await flapping(lite_office))["muted_at"] is not None

    async def test_an_incident_that_opens_meanwhile_is_muted_from_its_start(
        self, lite_office: Office
    ) -> None:
        made = await lite_office.admin.post("/api/v1/nodes", json={"node_id": "r1"})
        assert made.status_code == 201, made.text
        router = Router("r1")
        router.begin(["f", "g", "h"], lite_office.clock() - timedelta(hours=1))
        resources = lite_office.resources
        listening = Listening(resources.database, lite_office.clock, lite_office.app.state.report_observers)
        await listening.take("r1", router.snapshot(lite_office.clock()))
        for number in range(4):
            if number == 3:
                assert (await mute(lite_office))["level"] == "noisy"
            lite_office.clock.turn(timedelta(seconds=60))
            router.flap("f", lite_office.clock() - timedelta(seconds=5))
            await listening.take("r1", router.snapshot(lite_office.clock()))
        assert (await flapping(lite_office))["muted_at"] is not None
        assert (await incidents(lite_office, "counted"))["items"] == []


async def all_mutes(office: Office) -> list[FlapMute]:
    async with office.resources.database.reading() as session:
        return list((await session.scalars(select(FlapMute))).all())


class TestOfAPrefix:
    async def test_it_is_kept_wherever_the_scores_stand(self, stage: Stage) -> None:
        for _ in range(4):
            stage.clock.turn(timedelta(seconds=60))
            await stage.report(("172.20.0.0/24", ChangeKind.WITHDRAWN))
        (read,) = [found for found in await stage.flaps.restless() if found.kind is SubjectKind.PREFIX]
        assert read.level == "flapping"
        await claim(stage, SubjectKind.PREFIX, "172.20.0.0/24")
        await stage.watch()
        (quiet,) = [found for found in await stage.flaps.restless(SubjectKind.PREFIX) if found.muted_at]
        assert (quiet.subject, quiet.muted_by) == ("172.20.0.0/24", "noc")
        (incident,) = await opened(stage)
        assert incident.muted_at == quiet.muted_at
        stage.clock.turn(timedelta(hours=3))
        await stage.watch()
        assert await opened(stage) == []
        assert await muted(stage) == []


async def claim(stage: Stage, kind: SubjectKind, subject: str) -> None:
    async with stage.resources.database.transaction() as session:
        assert await FlapMutes(session).claim(("r1", kind, subject), "noc", stage.clock())


async def muted(stage: Stage) -> list[str]:
    async with stage.resources.database.reading() as session:
        return [mute.subject for mute in await FlapMutes(session).list_of()]


async def opened(stage: Stage) -> list[IncidentRead]:
    async with stage.resources.database.reading() as session:
        return await IncidentLedger.within(session).list_open([IncidentKind.PREFIX_FLAPPING])


async def test_a_mute_waits_for_a_tier_that_is_away(migrated: Path, tmp_path: Path) -> None:
    with valkey_server(tmp_path / "own-valkey") as tier:
        async with open_stage(copied(migrated, tmp_path), tmp_path, f"{tier.url}/1") as stage:
            await stage.tell()
            for _ in range(4):
                stage.router.flap("f", stage.clock() + timedelta(seconds=50))
                await stage.pass_by(60)
            await claim(stage, SubjectKind.SESSION, "f")
            tier.stop()
            await stage.watch()
            assert await muted(stage) == ["f"]
            tier.start()


class TestPages:
    async def test_an_operator_mutes_from_the_explanation_and_lifts_it(self, lite_office: Office) -> None:
        await restless(lite_office)
        headers = await signed_in(lite_office) | {"Accept": "text/html"}
        ask = lite_office.outside
        page = (await ask.get("/flaps", headers=headers)).text
        assert 'action="/flaps/r1/mute"' in page
        assert "/probes?node=r1" in page
        form = {**SESSION, "above": "100", "csrf_token": headers["X-CSRF-Token"]}
        muted = await ask.post("/flaps/r1/mute", headers=headers, data=form)
        assert (muted.status_code, muted.headers["location"]) == (303, "/flaps?node=r1&session=f&above=100")
        page = (await ask.get(muted.headers["location"], headers=headers)).text
        assert 'action="/flaps/r1/unmute"' in page
        assert "#bell-off" in page
        assert "Muted" in (await ask.get("/incidents", headers=headers)).text
        dashboard = (await ask.get("/", headers=headers)).text
        assert "1 muted" in dashboard
        assert "Session flapping" not in dashboard
        assert (await ask.post("/flaps/r1/unmute", headers=headers, data=form)).status_code == 303
        assert "Session flapping" in (await ask.get("/", headers=headers)).text

    async def test_sessions_are_listed_by_their_least_score(self, lite_office: Office) -> None:
        await restless(lite_office)
        headers = await signed_in(lite_office) | {"Accept": "text/html"}
        page = (await lite_office.outside.get("/flaps?above=2000", headers=headers)).text
        assert "1 session with a score up to 2,000 is left out." in page
        assert "table=sessions&amp;above=2000" in page
        page = (await lite_office.outside.get("/flaps", headers=headers)).text
        assert 'href="/flaps?above=100"' in page
        assert "left out" not in page

    async def test_events_part_the_reason_from_the_score(self, lite_office: Office) -> None:
        await restless(lite_office)
        headers = await signed_in(lite_office) | {"Accept": "text/html"}
        page = (await lite_office.outside.get("/nodes/r1/events", headers=headers)).text
        assert "Hold timer expired, score 0 to 1,000" in page

    async def test_no_number_of_mutes_takes_more_statements(self, lite_office: Office) -> None:
        await restless(lite_office)
        headers = await signed_in(lite_office) | {"Accept": "text/html"}
        seen = []
        for size in (1, 40):
            async with lite_office.resources.database.transaction() as session:
                for number in range(size):
                    key = ("r1", SubjectKind.SESSION, "f" if size == 1 else f"s{number}")
                    await FlapMutes(session).claim(key, "noc", lite_office.clock())
            with counted() as asked:
                answer = await lite_office.outside.get("/flaps?node=r1&session=f", headers=headers)
            assert answer.status_code == 200
            seen.append(asked)
        assert len(seen[0]) == len(seen[1]), more(*seen)


class TestExport:
    async def test_each_table_is_written_out(self, lite_office: Office) -> None:
        await restless(lite_office)
        await mute(lite_office)
        async with lite_office.resources.database.transaction() as session:
            (told,) = (
                await session.scalars(select(FlapTransition).where(FlapTransition.subject == "g"))
            ).all()
            told.reason = "=HYPERLINK(1)"
        sessions = await table(lite_office, "sessions")
        assert [(line["subject"], line["level"], bool(line["muted_by"])) for line in sessions] == [
            ("f", "flapping", True),
            ("g", "stable", False),
        ]
        assert [line["subject"] for line in await table(lite_office, "sessions", above="2000")] == ["f"]
        assert [line["subject"] for line in await table(lite_office, "prefixes")] == ["172.20.0.0/24"]
        transitions = await table(lite_office, "transitions")
        assert len(transitions) >= 5
        assert [line["reason"] for line in transitions if line["subject"] == "g"] == ["'=HYPERLINK(1)"]


async def table(office: Office, name: str, **more_of_it: str) -> list[dict[str, str]]:
    answer = await office.admin.get("/api/v1/flaps/export", params={"table": name, **more_of_it})
    assert answer.headers["content-disposition"] == f'attachment; filename="flaps-{name}.csv"'
    return list(csv.DictReader(io.StringIO(answer.text)))
