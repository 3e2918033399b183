"""Previews: the same change gives the same bytes, and a closed one is gone everywhere."""

import base64
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx2
import pytest

from control_server.app import create_app
from control_server.resources import open_resources
from shared.testing.servers import KeyValueServer
from tests.integration.control.api_tokens.test_tokens import bearer, made
from tests.integration.control.enrolment.office import Office

LOGO = bytes(range(256)) * 8
WANTED: dict[str, Any] = {
    "nodes": [{"node_id": "fra1", "site": "Frankfurt", "labels": {"role": "edge"}}],
    "sources": {"bird/filters.conf": "filter ours { accept; }\n"},
    "assets": {"looking-glass/logo.png": base64.b64encode(LOGO).decode()},
}


async def rendered(office: Office, **changes: Any) -> dict[str, Any]:
    answer = await office.admin.post("/api/v1/previews", json={**WANTED, **changes})
    assert answer.status_code == 201, answer.text
    found: dict[str, Any] = answer.json()
    return found


@pytest.fixture
async def lite(lite: Office) -> Office:
    return await with_a_node(lite)


@pytest.fixture
async def on_each_state(on_each_state: Office) -> Office:
    return await with_a_node(on_each_state)


async def with_a_node(office: Office) -> Office:
    created = await office.admin.post("/api/v1/nodes", json={"node_id": "fra1", "site": "Offenbach"})
    assert created.status_code == 201
    return office


@asynccontextmanager
async def another_worker(office: Office) -> AsyncIterator[httpx2.AsyncClient]:
    """A second process's view: its own resources, the same database and the same runtime state."""
    settings = office.resources.settings
    async with open_resources(settings, office.clock) as resources:
        app = create_app(settings, resources)
        transport = httpx2.ASGITransport(app=app)
        async with (
            app.router.lifespan_context(app),
            httpx2.AsyncClient(
                transport=transport, base_url="http://localhost:8420", headers=office.admin.headers
            ) as client,
        ):
            yield client


class TestBundle:
    async def test_holds_manifest_configuration_files_and_assets(self, on_each_state: Office) -> None:
        office = on_each_state
        preview = await rendered(office)
        path = f"/api/v1/previews/{preview['id']}"
        assert (await office.admin.get(path)).json() == preview
        assert (preview["nodes"], preview["changed"], preview["expires_in"]) == (["fra1"], ["fra1"], 3600)
        assert [(file["kind"], file["path"]) for file in preview["files"]] == [
            ("configuration", "configuration.txt"),
            ("module", "nodes/fra1.conf"),
            ("module", "sources/bird/filters.conf"),
            ("asset", "looking-glass/logo.png"),
        ]
        configuration = await office.admin.get(f"{path}/configuration")
        assert 'site "Frankfurt";\n' in configuration.text
        assert 'label "role" "edge";\n' in configuration.text
        source = await office.admin.get(f"{path}/files/sources/bird/filters.conf")
        assert source.text == WANTED["sources"]["bird/filters.conf"]
        asset = await office.admin.get(f"{path}/assets/looking-glass/logo.png")
        assert asset.content == LOGO
        assert asset.headers["content-disposition"] == "attachment"
        assert asset.headers["x-content-type-options"] == "nosniff"

    async def test_every_part_ends_with_the_preview(self, on_each_state: Office) -> None:
        state = on_each_state.resources.runtime_state
        preview = await rendered(on_each_state)
        for part in ("manifest", "bundle", "modules", "assets", "meta"):
            assert 3500 < await state.ttl(f"runtime:artifact:{preview['id']}:{part}") <= 3600

    async def test_the_same_change_gives_the_same_bytes_under_another_id(self, lite: Office) -> None:
        one, other = await rendered(lite), await rendered(lite)
        assert one["id"] != other["id"]
        assert (one["sha256"], one["files"]) == (other["sha256"], other["files"])

    async def test_different_changes_give_different_bytes(self, lite: Office) -> None:
        node = WANTED["nodes"][0]
        seen = {(await rendered(lite))["sha256"]}
        for changes in (
            {"nodes": [{**node, "site": "Frankfurt "}]},
            {"nodes": [{**node, "labels": {"role": "edge", "tier": "1"}}]},
            {"nodes": [{**node, "labels": {"role": 'edge";\n  site "x'}}]},
            {"nodes": [{**node, "deny_targets": ["192.0.2.0/24"]}]},
            {"sources": {"bird/filters.conf": "filter ours { reject; }\n"}},
            {"sources": {"bird/filter.conf": "filter ours { accept; }\n"}},
            {"assets": {"looking-glass/logo.png": base64.b64encode(LOGO[1:]).decode()}},
        ):
            seen.add((await rendered(lite, **changes))["sha256"])
        assert len(seen) == 8

    async def test_what_stays_as_it_is_is_not_called_changed(self, lite: Office) -> None:
        assert (await rendered(lite, nodes=[{"node_id": "fra1"}]))["changed"] == []

    async def test_facts_alone_are_enough(self, lite: Office) -> None:
        preview = await rendered(lite, sources={}, assets={})
        missing = await lite.admin.get(f"/api/v1/previews/{preview['id']}/assets/none.png")
        assert (missing.status_code, missing.json()["code"]) == (404, "preview_file_not_found")

    async def test_a_node_that_is_none_is_said(self, lite: Office) -> None:
        answer = await lite.admin.post("/api/v1/previews", json={"nodes": [{"node_id": "nowhere"}]})
        assert (answer.status_code, answer.json()["code"]) == (404, "node_not_found")

    @pytest.mark.parametrize("path", ["../x", "/x", "a//b", "a/../b", "", "a b", "x" * 65, "a/./b", "a/.."])
    async def test_paths_lead_nowhere_else(self, lite: Office, path: str) -> None:
        answer = await lite.admin.post("/api/v1/previews", json={"sources": {path: "x"}})
        assert answer.status_code == 422

    @pytest.mark.parametrize("text", ["!!", "AAEC!", "AAE", "AA=E", "é"])
    async def test_a_file_that_is_not_base64_is_refused_and_not_half_read(
        self, lite: Office, text: str
    ) -> None:
        answer = await lite.admin.post("/api/v1/previews", json={"assets": {"logo.png": text}})
        assert (answer.status_code, answer.json()["errors"][0]["field"]) == (422, "assets.logo.png")

    async def test_it_needs_the_right_to_change_the_fleet(self, lite: Office) -> None:
        preview = await rendered(lite)
        headers = bearer(await made(lite, "fleet:read"))
        assert (await lite.outside.post("/api/v1/previews", json=WANTED, headers=headers)).status_code == 403
        path = f"/api/v1/previews/{preview['id']}"
        assert (await lite.outside.get(path, headers=headers)).status_code == 403

    async def test_a_bundle_may_be_larger_than_other_requests(self, lite: Office) -> None:
        body: dict[str, Any] = {"sources": {"big.conf": "x" * (3 * 2**20)}}
        assert (await lite.admin.post("/api/v1/previews", json=body)).status_code == 201
        body = {"node_id": "big", "description": "x" * (3 * 2**20)}
        assert (await lite.admin.post("/api/v1/nodes", json=body)).status_code == 413


class TestEnd:
    async def test_a_closed_preview_is_gone_everywhere(
        self, on_each_state: Office, state_server: KeyValueServer | None
    ) -> None:
        office = on_each_state
        preview = await rendered(office)
        path = f"/api/v1/previews/{preview['id']}"
        parts = (path, f"{path}/configuration", f"{path}/files/nodes/fra1.conf")
        if state_server is not None:
            async with another_worker(office) as other:
                assert [(await other.get(part)).status_code for part in parts] == [200] * 3
                assert (await office.admin.delete(path)).status_code == 204
                answers = [await other.get(part) for part in parts]
        else:
            assert (await office.admin.delete(path)).status_code == 204
            answers = [await office.admin.get(part) for part in parts]
        assert [(a.status_code, a.json()["code"]) for a in answers] == [(404, "preview_not_found")] * 3
        assert (await office.admin.delete(path)).status_code == 404

    async def test_an_expired_preview_is_gone(self, on_each_state: Office) -> None:
        state = on_each_state.resources.runtime_state
        preview = await rendered(on_each_state)
        for part in ("manifest", "bundle", "modules", "assets", "meta"):
            await state.expire(f"runtime:artifact:{preview['id']}:{part}", 0)
        assert (await on_each_state.admin.get(f"/api/v1/previews/{preview['id']}")).status_code == 404

    async def test_after_a_restart_an_old_id_answers_404_and_facts_are_rendered_anew(
        self, lite: Office
    ) -> None:
        before = await rendered(lite)
        async with another_worker(lite) as restarted:
            assert (await restarted.get(f"/api/v1/previews/{before['id']}")).status_code == 404
            after = (await restarted.post("/api/v1/previews", json=WANTED)).json()
            assert after["id"] != before["id"]
            assert after["sha256"] == before["sha256"]


class TestBudget:
    @pytest.fixture(autouse=True)
    def small(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("RUNTIME_STATE_MEMORY_MAX_BYTES", "65536")
        monkeypatch.setenv("RUNTIME_STATE_MEMORY_MAX_ITEM_BYTES", "16384")

    async def test_a_bundle_over_the_budget_is_refused_before_any_of_it_is_kept(self, lite: Office) -> None:
        before = await lite.resources.runtime_state.stats()
        answer = await lite.admin.post("/api/v1/previews", json={"sources": {"big.conf": "x" * 20_000}})
        assert (answer.status_code, answer.json()["code"]) == (503, "RUNTIME_STATE_CAPACITY_EXCEEDED")
        assert int(answer.headers["retry-after"]) >= 1
        after = await lite.resources.runtime_state.stats()
        assert after.capacity_rejections == before.capacity_rejections + 1
        preview = await rendered(lite)
        assert (await lite.admin.get(f"/api/v1/previews/{preview['id']}")).status_code == 200

    async def test_when_it_is_full_requests_still_get_through(self, lite: Office) -> None:
        statuses = []
        for number in range(8):
            body = {"sources": {f"part{number}.conf": "x" * 12_000}}
            statuses.append((await lite.admin.post("/api/v1/previews", json=body)).status_code)
        assert set(statuses) == {201, 503}
        assert (await lite.admin.get("/api/v1/nodes")).status_code == 200
