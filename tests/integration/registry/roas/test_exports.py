"""The files that validators and routers fetch."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import httpx2
import pytest

from registry_server.app import create_app
from registry_server.mirror.schemas import SyncTrigger
from tests.integration.registry.conftest import Registries, client_of
from tests.integration.registry.network import FILES, route, thing
from tests.integration.registry.serving import Served, serving
from tests.integration.registry.upstream import Upstream

pytestmark = pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
PATHS = (
    "/registry/roa.json",
    "/registry/roa/bird4.conf",
    "/registry/roa/bird6.conf",
    "/registry/roa/openbgpd.conf",
)


@pytest.fixture
async def http(served: Served) -> AsyncIterator[httpx2.AsyncClient]:
    async with client(served) as opened:
        yield opened


def client(served: Served) -> httpx2.AsyncClient:
    return httpx2.AsyncClient(
        transport=httpx2.ASGITransport(app=served.app), base_url="http://localhost:8420"
    )


class TestFiles:
    async def test_bird_gets_sorted_routes(self, http: httpx2.AsyncClient) -> None:
        four = await http.get("/registry/roa/bird4.conf")
        assert four.text == (
            "route 172.20.0.0/23 max 29 as 4242429903;\n"
            "route 172.20.0.0/24 max 26 as 4242429901;\n"
            "route 172.20.0.0/24 max 26 as 4242429902;\n"
            "route 172.20.1.0/27 max 29 as 4242429901;\n"
        )
        six = await http.get("/registry/roa/bird6.conf")
        assert six.text == "route fd42:1::/48 max 64 as 4242429901;\n"
        assert six.headers["content-type"].startswith("text/plain")
        assert six.headers["x-content-type-options"] == "nosniff"

    async def test_openbgpd_gets_a_set(self, http: httpx2.AsyncClient) -> None:
        text = (await http.get("/registry/roa/openbgpd.conf")).text
        assert text.startswith("roa-set {\n\t172.20.0.0/23 maxlen 29 source-as 4242429903\n")
        assert text.endswith("\n}\n")

    async def test_validators_get_json_with_metadata(self, http: httpx2.AsyncClient, served: Served) -> None:
        document = (await http.get("/registry/roa.json")).json()
        assert document["roas"][0] == {
            "prefix": "172.20.0.0/23",
            "maxLength": 29,
            "asn": "AS4242429903",
            "ta": "dn42",
        }
        assert document["metadata"]["counts"] == len(document["roas"]) == 5
        age = served.registry.clock.at - datetime.fromtimestamp(document["metadata"]["generated"], UTC)
        assert timedelta(0) <= age <= timedelta(hours=1)

    async def test_the_status_and_what_was_wrong_can_be_read(
        self, http: httpx2.AsyncClient, served: Served
    ) -> None:
        await served.commit({"data/route/172.20.0.0_30": route("172.20.0.0/30", 4242429901)})
        status = (await http.get("/registry/api/v1/roas")).json()
        assert (status["ipv4"], status["ipv6"], status["fresh"], status["problems"]) == (4, 1, True, 1)
        problems = (await http.get("/registry/api/v1/roas/problems")).json()
        assert [(each["code"], each["subject"]) for each in problems] == [
            ("roa_prefix_too_long", "172.20.0.0/30")
        ]

    async def test_the_page_shows_them(self, http: httpx2.AsyncClient) -> None:
        page = (await http.get("/registry/roas", headers={"Accept": "text/html"})).text
        assert "172.20.0.0/23" in page
        assert "AS4242429903" in page
        one = (await http.get("/registry/roas?q=AS4242429903", headers={"Accept": "text/html"})).text
        assert "172.20.0.0/23" in one
        assert "fd42:1::/48" not in one
        odd = (await http.get("/registry/roas?q=hello", headers={"Accept": "text/html"})).text
        assert "Not a prefix, an address or an AS number." in odd
        inside = (await http.get("/registry/roas?q=172.20.1.1", headers={"Accept": "text/html"})).text
        assert "172.20.1.0/27" in inside
        assert "AS4242429902" not in inside


class TestValidators:
    @pytest.mark.parametrize("path", PATHS)
    async def test_are_quoted_strong_and_answered_with_not_modified(
        self, http: httpx2.AsyncClient, path: str
    ) -> None:
        first = await http.get(path)
        tag = first.headers["etag"]
        assert tag.startswith('"')
        assert tag.endswith('"')
        again = await http.get(path, headers={"If-None-Match": tag})
        assert (again.status_code, again.content, again.headers["etag"]) == (304, b"", tag)
        dated = await http.get(path, headers={"If-Modified-Since": first.headers["last-modified"]})
        assert dated.status_code == 304
        other = await http.get(path, headers={"If-None-Match": '"other"'})
        assert other.status_code == 200
        assert (await http.head(path)).headers["etag"] == tag

    async def test_are_the_same_after_a_restart_and_a_sync_that_changes_no_roa(
        self, registries: Registries, upstream: Upstream
    ) -> None:
        async with serving(registries, upstream) as first, client(first) as http:
            before = [(await http.get(path)).headers["etag"] for path in PATHS]
            await first.commit({"data/mntner/BAR-MNT": None})
            assert [(await http.get(path)).headers["etag"] for path in PATHS] == before
        async with serving(registries, upstream, {}) as second, client(second) as http:
            assert [(await http.get(path)).headers["etag"] for path in PATHS] == before

    async def test_of_the_json_move_on_so_that_its_stamp_is_never_pinned(
        self, http: httpx2.AsyncClient, served: Served
    ) -> None:
        first = await http.get("/registry/roa.json")
        served.registry.clock.advance(timedelta(hours=3))
        await served.app.state.mirror.sync(SyncTrigger.SCHEDULE)
        await served.snapshots.refresh()
        headers = {"If-None-Match": first.headers["etag"]}
        later = await http.get("/registry/roa.json", headers=headers)
        assert later.status_code == 200
        moved = later.json()["metadata"]["generated"] - first.json()["metadata"]["generated"]
        assert moved == 3 * 3600
        bird = await http.get("/registry/roa/bird4.conf")
        assert "172.20.0.0/23" in bird.text


class TestRestart:
    async def test_the_first_request_is_told_what_the_last_sync_left(
        self, registries: Registries, upstream: Upstream, tmp_path: Path
    ) -> None:
        upstream.commit(FILES)
        left = await (await registries.open(upstream)).sync()
        upstream.directory.rename(tmp_path / "away")
        for path in (*PATHS, "/registry/api/v1/roas", "/registry/api/v1/roas/problems"):
            restarted = (await registries.open(upstream)).resources
            async with client_of(create_app(restarted.settings, restarted)) as http:
                answer = await http.get(path)
            assert answer.status_code == 200, (path, answer.text)
            assert restarted.snapshots.current is not None
            assert restarted.snapshots.current.facts.version == left.id

    async def test_the_page_and_the_schemas_do_not_wait_for_the_first_pass_either(
        self, registries: Registries, upstream: Upstream
    ) -> None:
        upstream.commit(FILES)
        await (await registries.open(upstream)).sync()
        for path, shown in (("/registry/roas", "172.20.0.0/23"), ("/registry/api/v1/schema", "[")):
            restarted = (await registries.open(upstream, interval="PT24H")).resources
            async with client_of(create_app(restarted.settings, restarted)) as http:
                assert shown in (await http.get(path)).text


class TestPacked:
    """What validators fetch again and again is sent packed to who reads that."""

    @pytest.mark.parametrize("path", PATHS)
    async def test_the_same_bytes_have_another_tag(self, http: httpx2.AsyncClient, path: str) -> None:
        plain = await http.get(path, headers={"Accept-Encoding": "identity"})
        packed = await http.get(path, headers={"Accept-Encoding": "br, GZIP;q=0.5"})
        assert (plain.headers.get("content-encoding"), packed.headers["content-encoding"]) == (None, "gzip")
        assert plain.content == packed.content
        assert plain.headers["etag"] != packed.headers["etag"]
        assert plain.headers["vary"] == packed.headers["vary"] == "Accept-Encoding"

    async def test_either_tag_is_known_and_told_back(self, http: httpx2.AsyncClient) -> None:
        encodings = ("identity", "gzip")
        tags = [
            (await http.get(PATHS[0], headers={"Accept-Encoding": each})).headers["etag"]
            for each in encodings
        ]
        for encoding in encodings:
            for tag in tags:
                headers = {"Accept-Encoding": encoding, "If-None-Match": tag}
                again = await http.get(PATHS[0], headers=headers)
                assert (again.status_code, again.headers["etag"]) == (304, tag)

    @pytest.mark.parametrize("accepted", ["gzip;q=0", "gzip; q=0.0", "br", "", "x-gzip"])
    async def test_who_does_not_read_it_gets_it_plain(self, http: httpx2.AsyncClient, accepted: str) -> None:
        answer = await http.get(PATHS[0], headers={"Accept-Encoding": accepted})
        assert "content-encoding" not in answer.headers


class TestFailing:
    @pytest.mark.parametrize("path", PATHS)
    async def test_what_was_not_seen_for_too_long_is_refused(
        self, http: httpx2.AsyncClient, served: Served, path: str
    ) -> None:
        served.registry.clock.advance(timedelta(hours=13))
        stale = await http.get(path)
        assert (stale.status_code, stale.json()["code"]) == (503, "roas_stale")
        page = await http.get("/registry/roas", headers={"Accept": "text/html"})
        assert page.status_code == 200

    async def test_before_the_first_sync_there_is_nothing(
        self, registries: Registries, upstream: Upstream
    ) -> None:
        async with serving(registries, upstream, None) as served, client(served) as http:
            for path in PATHS:
                refused = await http.get(path)
                assert (refused.status_code, refused.json()["code"]) == (503, "roas_not_ready")
            assert (await http.get("/registry/roas", headers={"Accept": "text/html"})).status_code == 200

    async def test_quirks_of_objects_cost_their_own_roas_alone(
        self, http: httpx2.AsyncClient, served: Served
    ) -> None:
        await served.commit(
            {
                "data/route/172.20.8.1_24": route("172.20.8.1/24", 4242429901),
                "data/route/172.20.9.0_24": thing("route", "172.20.9.0/24", "origin:ASAS4242429903"),
                "data/route/172.20.10.0_24": route("172.20.10.0/24", 4242429901, 4242429901),
                "data/route/172.20.11.0_24": route("172.20.11.0/24", 4242429901, more=("max-length:40",)),
                "data/route6/fd42:2::1_48": route("fd42:2::1/48", 4242429901),
            }
        )
        text = (await http.get("/registry/roa.json")).text
        rows = [(row["prefix"], row["maxLength"]) for row in json.loads(text)["roas"]]
        assert [row for row in rows if row[0].startswith(("172.20.8.", "172.20.9.", "fd42:2"))] == []
        assert rows.count(("172.20.10.0/24", 29)) == 1
        assert ("172.20.11.0/24", 29) in rows
