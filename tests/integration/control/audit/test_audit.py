"""The audit trail as people read it: filtered, page by page, and taken home whole."""

import csv
import io
import json
import re
from datetime import timedelta

import pytest

from shared.web.audit import service
from tests.integration.control.api_tokens.test_tokens import bearer, made
from tests.integration.control.enrolment.office import Office

HTML = {"Accept": "text/html"}


async def nodes(office: Office, *names: str) -> None:
    for name in names:
        created = await office.admin.post("/api/v1/nodes", json={"node_id": name, "site": f"Site {name}"})
        assert created.status_code == 201


class TestFilter:
    async def test_by_actor_object_and_time(self, on_each_database: Office) -> None:
        office = on_each_database
        await nodes(office, "fra1")
        office.clock.turn(timedelta(days=2))
        await nodes(office, "ams1")

        async def found(query: str) -> list[str]:
            page = (await office.admin.get(f"/api/v1/audit?action=node.&{query}")).json()
            return [event["object_id"] for event in page["items"]]

        assert await found("") == ["ams1", "fra1"]
        assert await found("actor=local-admin") == ["ams1", "fra1"]
        assert await found("actor=service:local-admin") == ["ams1", "fra1"]
        assert await found("actor=nobody") == []
        assert await found("object_type=node&object_id=fra1") == ["fra1"]
        assert await found("since=2030-01-03") == ["ams1"]
        assert await found("until=2030-01-02") == ["fra1"]
        assert await found("since=2030-01-02T03:04:05Z&until=2030-01-02T03:04:06Z") == ["fra1"]
        answer = await office.admin.get("/api/v1/audit?since=soon")
        assert answer.status_code == 422


class TestExport:
    async def test_holds_every_event_in_both_forms(self, on_each_database: Office) -> None:
        office = on_each_database
        await nodes(office, *(f"n{number}" for number in range(12)))
        lines = (await office.admin.get("/api/v1/audit/export?action=node.")).text.splitlines()
        assert [json.loads(line)["object_id"] for line in lines] == [f"n{n}" for n in range(11, -1, -1)]
        answer = await office.admin.get("/api/v1/audit/export?format=csv&action=node.")
        assert answer.headers["content-type"].startswith("text/csv")
        assert 'filename="audit.csv"' in answer.headers["content-disposition"]
        rows = list(csv.DictReader(io.StringIO(answer.text)))
        assert [row["object_id"] for row in rows] == [f"n{n}" for n in range(11, -1, -1)]
        assert rows[0]["from_address"] == "127.0.0.1"

    async def test_goes_on_over_pages(self, lite: Office, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(service, "_EXPORTED_AT_ONCE", 2)
        await nodes(lite, *(f"n{number}" for number in range(5)))
        lines = (await lite.admin.get("/api/v1/audit/export?action=node.")).text.splitlines()
        assert len({json.loads(line)["id"] for line in lines}) == len(lines) == 5

    async def test_is_for_those_who_may_read_it(self, lite: Office) -> None:
        headers = bearer(await made(lite, "fleet:read"))
        for path in ("/api/v1/audit", "/api/v1/audit/export", "/audit"):
            assert (await lite.outside.get(path, headers=headers)).status_code == 403
            assert (await lite.outside.get(path)).status_code == 401


class TestPage:
    async def test_shows_who_what_from_where_and_the_change(self, lite: Office) -> None:
        await nodes(lite, "fra1")
        page = (await lite.admin.get("/audit", headers=HTML)).text
        for text in ("node.created", "fra1", "local-admin", "127.0.0.1", "Site fra1"):
            assert text in page

    async def test_keeps_the_filter_from_page_to_page(self, lite: Office) -> None:
        await nodes(lite, *(f"n{number}" for number in range(60)))
        first = (await lite.admin.get("/audit?action=node.", headers=HTML)).text
        older = re.search(r'href="(/audit\?action=node\.[^"]+)"', first)
        assert older is not None
        second = (await lite.admin.get(older[1].replace("&amp;", "&"), headers=HTML)).text
        seen = re.findall(r'node\.created</span> <span class="mono">(n\d+)<', first + second)
        assert len(seen) == len(set(seen)) == 60

    async def test_a_filter_that_is_none_is_shown_with_its_reason(self, lite: Office) -> None:
        page = await lite.admin.get("/audit?since=soon", headers=HTML)
        assert page.status_code == 200
        assert 'value="soon"' in page.text
        assert "aria-invalid" in page.text

    async def test_what_people_typed_is_text(self, lite: Office) -> None:
        body = {"node_id": "fra1", "site": "<script>alert(1)</script>"}
        await lite.admin.post("/api/v1/nodes", json=body)
        page = (await lite.admin.get("/audit", headers=HTML)).text
        assert "<script>alert" not in page
        assert "&lt;script&gt;" in page
