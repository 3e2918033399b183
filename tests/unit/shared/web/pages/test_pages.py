"""Rendering: languages, themes, tokens, navigation, static files."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from fastapi.testclient import TestClient

from shared.kernel.principal import Principal, PrincipalKind, Role
from shared.web.navigation import CONTROL_NAVIGATION, visible_groups
from shared.web.static_files import AssetsMissing, load_static_files
from shared.web.translation import choose_language, load_languages
from tests.unit.shared.web.pages.gallery.app import gallery_app

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from fastapi import FastAPI

SAMPLES = ("nodes", "node", "probe", "parts", "sign-in", "live")
LANGUAGES = load_languages()


@pytest.fixture(scope="module")
def app() -> FastAPI:
    return gallery_app()


@pytest.fixture
def client(app: FastAPI) -> Iterator[TestClient]:
    with TestClient(app, base_url="https://localhost") as client:
        yield client


class TestRender:
    @pytest.mark.parametrize("name", SAMPLES)
    @pytest.mark.parametrize("language", ["en", "zh-Hans"])
    def test_draws_every_sample_in_every_language(self, client: TestClient, name: str, language: str) -> None:
        client.cookies.set("rl_language", language)
        page = client.get(f"/{name}")
        assert page.status_code == 200
        assert f'<html lang="{language}"' in page.text

    @pytest.mark.parametrize("name", SAMPLES)
    def test_has_no_inline_script_or_style(self, client: TestClient, name: str) -> None:
        text = client.get(f"/{name}").text
        assert not re.search(r"<style|\sstyle=|\son\w+=|javascript:|hx-on", text)
        inline = re.findall(r"<script(?![^>]*\bsrc=)[^>]*>", text)
        assert inline == ['<script type="application/json" id="rl-messages">']

    def test_writes_the_chosen_theme_into_the_first_answer(self, client: TestClient) -> None:
        assert 'data-theme="system"' in client.get("/nodes").text
        client.cookies.set("rl_theme", "dark")
        assert 'data-theme="dark" data-bs-theme="dark"' in client.get("/nodes").text

    def test_ignores_a_theme_that_does_not_exist(self, client: TestClient) -> None:
        client.cookies.set("rl_theme", '"><script>')
        assert 'data-theme="system"' in client.get("/nodes").text

    def test_gives_a_new_browser_a_form_token_and_its_cookie(self, client: TestClient) -> None:
        page = client.get("/probe")
        token = re.search(r'name="csrf_token" value="([^"]+)"', page.text)
        assert token is not None
        assert f"__Host-rl_csrf={token[1]}" in page.headers["set-cookie"]

    @pytest.mark.parametrize("status", [400, 401, 403, 404, 405, 409, 410, 422, 429, 500, 503])
    def test_draws_every_refusal_with_its_code_and_request(self, client: TestClient, status: int) -> None:
        for address in (f"/errors/{status}/some_code", f"/errors/{status}/some_code?anonymous=1"):
            page = client.get(address)
            assert page.status_code == status
            assert f"{status} some_code" in page.text
            assert "3f2c9ab0d41e7788" in page.text


class TestPreferences:
    def test_keeps_a_choice_and_goes_back(self, client: TestClient) -> None:
        answer = client.post(
            "/preferences",
            data={"language": "zh-Hans", "return_to": "/nodes?q=a"},
            headers={"Accept": "text/html"},
            follow_redirects=False,
        )
        assert (answer.status_code, answer.headers["location"]) == (303, "/nodes?q=a")
        assert 'lang="zh-Hans"' in client.get("/nodes").text

    @pytest.mark.parametrize("target", ["https://evil.example/", "//evil.example", "/\\evil.example", ""])
    def test_goes_nowhere_else(self, client: TestClient, target: str) -> None:
        data = {"theme": "dark", "return_to": target}
        answer = client.post(
            "/preferences", data=data, headers={"Accept": "text/html"}, follow_redirects=False
        )
        assert answer.headers["location"] == "/"


class TestStaticFiles:
    def test_keeps_a_file_for_ever_under_its_digest(self, client: TestClient) -> None:
        address = re.search(r'href="(/static/[^"]+/css/app.css)"', client.get("/nodes").text)
        assert address is not None
        sheet = client.get(address[1])
        assert "immutable" in sheet.headers["cache-control"]
        assert sheet.headers["content-type"].startswith("text/css")
        assert sheet.headers["content-encoding"] in {"gzip", "br"}

    def test_is_not_packed_for_a_client_that_cannot_unpack(self, client: TestClient) -> None:
        address = re.search(r'href="(/static/[^"]+/css/app.css)"', client.get("/nodes").text)
        assert address is not None
        plain = client.get(address[1], headers={"Accept-Encoding": "identity"})
        packed = client.get(address[1], headers={"Accept-Encoding": "gzip"})
        assert "content-encoding" not in plain.headers
        assert packed.headers["content-encoding"] == "gzip"
        assert packed.content == plain.content

    def test_sends_the_present_file_under_an_older_digest_for_a_short_time(self, client: TestClient) -> None:
        answer = client.get("/static/000000000000/js/app.mjs")
        assert answer.headers["cache-control"] == "public, max-age=300"
        assert answer.headers["content-type"].startswith("text/javascript")

    def test_changes_the_address_with_the_content(self, tmp_path: Path) -> None:
        root = _copy_of_static(tmp_path)
        before = load_static_files("/static", root).version
        (root / "css" / "table.css").write_text("a{}", encoding="utf-8")
        assert load_static_files("/static", root).version != before

    def test_says_what_to_do_when_third_party_files_are_missing(self, tmp_path: Path) -> None:
        root = _copy_of_static(tmp_path)
        (root / "vendor" / "htmx" / "htmx.min.js").unlink()
        with pytest.raises(AssetsMissing, match="make setup"):
            load_static_files("/static", root)


def _copy_of_static(tmp_path: Path) -> Path:
    import shutil

    from shared.web.static_files import STATIC_ROOT

    return shutil.copytree(STATIC_ROOT, tmp_path / "static")


class TestChooseLanguage:
    @pytest.mark.parametrize(
        ("chosen", "accepted", "tag"),
        [
            (None, None, "en"),
            ("zh-Hans", "en", "zh-Hans"),
            ("xx", "zh-CN,en;q=0.5", "zh-Hans"),
            (None, "fr, zh;q=0.4, en;q=0.6", "en"),
            (None, "zh-TW, en;q=0.1", "en"),
            (None, "en;q=0, zh-Hans;q=0.2", "zh-Hans"),
            (None, ";;q=x,,", "en"),
        ],
    )
    def test_takes_the_choice_then_the_browser_then_english(
        self, chosen: str | None, accepted: str | None, tag: str
    ) -> None:
        assert choose_language(LANGUAGES, chosen, accepted).tag == tag


class TestVisibleGroups:
    def test_shows_only_what_the_person_may_open(self) -> None:
        viewer = Principal.of_role("v", PrincipalKind.PERSON, "v", Role.VIEWER)
        keys = [
            e.key for g in visible_groups(CONTROL_NAVIGATION, viewer, "/", LANGUAGES["en"]) for e in g.entries
        ]
        fleet, observed = ["nodes", "policy", "pools"], ["probes", "flaps", "incidents", "routing", "traffic"]
        assert keys == ["dashboard", *fleet, *observed, "alerts", "jobs", "registry", "tokens"]

    def test_shows_nothing_to_nobody(self) -> None:
        assert visible_groups(CONTROL_NAVIGATION, None, "/", LANGUAGES["en"]) == []

    @pytest.mark.parametrize(
        ("path", "key"),
        [("/", "dashboard"), ("/nodes", "nodes"), ("/nodes/fra1/probes", "nodes"), ("/nodesque", None)],
    )
    def test_marks_the_entry_above_the_path(self, path: str, key: str | None) -> None:
        admin = Principal.of_role("a", PrincipalKind.PERSON, "a", Role.ADMIN)
        groups = visible_groups(CONTROL_NAVIGATION, admin, path, LANGUAGES["en"])
        assert [e.key for g in groups for e in g.entries if e.current] == ([key] if key else [])
