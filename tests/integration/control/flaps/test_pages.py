"""Flaps, health and incidents over HTTP, in the portal and on the command line."""

from datetime import timedelta

from control_server.flaps.schemas import ChangeKind
from control_server.observations.service import Listening
from tests.integration.control.conftest import signed_in
from tests.integration.control.enrolment.office import Office
from tests.integration.control.flaps.stage import Router, Stage


async def restless(office: Office) -> None:
    """A node whose session `f` flaps, whose session `g` is down, and whose prefix changes."""
    made = await office.admin.post("/api/v1/nodes", json={"node_id": "r1"})
    assert made.status_code == 201, made.text
    router = Router("r1")
    router.begin(["f", "g", "h"], office.clock() - timedelta(hours=1))
    listening = Listening(office.resources.database, office.clock, office.app.state.report_observers)
    await listening.take("r1", router.snapshot(office.clock()))
    for _ in range(4):
        office.clock.turn(timedelta(seconds=60))
        router.flap("f", office.clock() - timedelta(seconds=5))
        await listening.take("r1", router.snapshot(office.clock()))
    router.drop("g", office.clock())
    office.clock.turn(timedelta(seconds=60))
    await listening.take("r1", router.snapshot(office.clock()))
    await Stage(office.resources, office.clock, router).report(("172.20.0.0/24", ChangeKind.CHANGED))


class TestApi:
    async def test_scores_their_reasons_and_what_happened(self, lite_office: Office) -> None:
        await restless(lite_office)
        ask = lite_office.admin
        overview = (await ask.get("/api/v1/flaps")).json()
        assert [(item["subject"], item["level"]) for item in overview["items"]] == [
            ("f", "flapping"),
            ("g", "stable"),
            ("172.20.0.0/24", "stable"),
        ]
        assert (overview["source"], overview["flapping"]) == ("sql", 1)
        assert overview["drops_by_subject"] == {"r1/session/f": 4, "r1/session/g": 1}
        why = (await ask.get("/api/v1/flaps/r1/session", params={"name": "f"})).json()
        assert (why["drops"], why["others_moved"]) == (4, 0)
        assert len(why["past"]) > 20 < len(why["future"])
        assert (await ask.get("/api/v1/flaps/r1/prefix", params={"prefix": "172.20.0.0/24"})).is_success
        told = (await ask.get("/api/v1/flaps/transitions", params={"node_id": "r1", "session": "g"})).json()
        assert [(item["event"], item["weight"]) for item in told] == [("left_established", 1000)]
        assert len((await ask.get("/api/v1/flaps/r1")).json()) == 4
        assert (await ask.get("/api/v1/flaps/r1/rates")).json() == []
        for path in ("/api/v1/flaps/r1/whole", "/api/v1/flaps/r1/session?name=nobody"):
            unknown = await ask.get(path)
            assert (unknown.status_code, unknown.json()["code"]) == (404, "flap_unknown")

    async def test_health_issues_and_incidents(self, lite_office: Office) -> None:
        await restless(lite_office)
        ask = lite_office.admin
        fleet = (await ask.get("/api/v1/health")).json()
        assert (fleet["total"], fleet["sessions"]["established"], fleet["sessions"]["down"]) == (1, 2, 1)
        kinds = [
            (issue["kind"], issue["subject"]) for issue in (await ask.get("/api/v1/health/issues")).json()
        ]
        assert ("session_down", "g") in kinds
        node = (await ask.get("/api/v1/health/nodes/r1")).json()
        assert [session["name"] for session in node["session_list"]] == ["g", "f", "h"]
        assert (await ask.get("/api/v1/health/nodes/nowhere")).status_code == 404
        assert isinstance((await ask.get("/api/v1/health/history")).json(), list)
        listed = (await ask.get("/api/v1/incidents", params={"state": "open", "node_id": "r1"})).json()
        (flapping,) = [item for item in listed["items"] if item["kind"] == "session_flapping"]
        assert (await ask.get(f"/api/v1/incidents/{flapping['id']}")).json() == flapping
        unknown = await ask.get("/api/v1/incidents/00000000-0000-0000-0000-000000000000")
        assert (unknown.status_code, unknown.json()["code"]) == (404, "incident_unknown")

    async def test_the_list_of_nodes_says_what_is_known_of_each(self, lite_office: Office) -> None:
        await restless(lite_office)
        node = await lite_office.node("r1")
        assert node["health"]["state"] == "unknown"
        assert node["health"]["reasons"] == ["never_reported"]


class TestPages:
    async def test_flaps_are_drawn_and_explained(self, lite_office: Office) -> None:
        await restless(lite_office)
        headers = await signed_in(lite_office) | {"Accept": "text/html"}
        for query in ("", "?node=r1&session=g", "?node=r1&prefix=172.20.0.0/24"):
            page = await lite_office.outside.get(f"/flaps{query}", headers=headers)
            assert page.status_code == 200, page.text[:500]
            assert "172.20.0.0/24" in page.text
            assert 'data-stream="/fleet/stream"' in page.text
        assert (await lite_office.outside.get("/flaps?node=r1&session=x", headers=headers)).status_code == 404

    async def test_incidents_stand_by_whether_they_are_over(self, lite_office: Office) -> None:
        headers = await signed_in(lite_office) | {"Accept": "text/html"}
        empty = await lite_office.outside.get("/incidents", headers=headers)
        assert empty.status_code == 200
        assert "Nothing is wrong" in empty.text
        await restless(lite_office)
        page = await lite_office.outside.get("/incidents", headers=headers)
        assert "Session flapping" in page.text
        empty = await lite_office.outside.get("/flaps", headers=headers)
        assert "Why f has this score" in empty.text
