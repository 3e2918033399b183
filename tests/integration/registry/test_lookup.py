"""Look-ups over HTTP; nothing here changes the registry, so one serves all tests of a database."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from typing import Any

import httpx2
import pytest
import pytest_asyncio

from registry_server.app import create_app
from registry_server.lookup.service import records
from tests.integration.registry.conftest import DATABASES, Registries, client_of, fresh_database
from tests.integration.registry.objects import ASN, FILES, KEY
from tests.integration.registry.upstream import Upstream

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module", params=DATABASES)
async def client(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[httpx2.AsyncClient]:
    directory = tmp_path_factory.mktemp("lookup")
    upstream = Upstream.create(directory / "upstream.git")
    upstream.commit(FILES)
    with fresh_database(request, directory) as url:
        async with AsyncExitStack() as stack:
            registry = await Registries(url, directory, stack).open(upstream, interval="PT24H")
            await registry.sync()
            app = create_app(registry.resources.settings, registry.resources)
            yield await stack.enter_async_context(client_of(app))


class TestAsn:
    @pytest.mark.parametrize("asn", ["AS4242429901", "as4242429901", "4242429901"])
    async def test_is_found_in_any_spelling(self, client: httpx2.AsyncClient, asn: str) -> None:
        answer = await client.get(f"/registry/api/v1/asn/{asn}")
        assert answer.status_code == 200
        assert answer.json() == {
            "path": "data/aut-num/AS4242429901",
            "descr": [],
            "mnt_by": ["FOO-MNT"],
            "admin_c": ["Foo-DN42"],
            "tech_c": [],
            "org": None,
            "source": "DN42",
            "raw": ASN,
            "asn": 4242429901,
            "as_name": "FOO-AS",
            "member_of": [],
        }

    async def test_takes_the_largest_number(self, client: httpx2.AsyncClient) -> None:
        assert (await client.get("/registry/api/v1/asn/AS4294967295")).json()["asn"] == 4294967295

    @pytest.mark.parametrize("asn", ["AS4242429999", "AS4242429909"])
    async def test_an_unknown_or_broken_one_is_a_problem(self, client: httpx2.AsyncClient, asn: str) -> None:
        answer = await client.get(f"/registry/api/v1/asn/{asn}")
        assert (answer.status_code, answer.headers["content-type"]) == (404, "application/problem+json")
        assert answer.json()["code"] == "asn_unknown"

    @pytest.mark.parametrize("asn", ["AS4294967296", "FOO", "AS-FOO", "AS1%00"])
    async def test_what_is_no_number_is_invalid(self, client: httpx2.AsyncClient, asn: str) -> None:
        answer = await client.get(f"/registry/api/v1/asn/{asn}")
        assert answer.status_code == 422
        assert answer.json()["errors"][0]["code"] == "invalid_asn"


class TestMntner:
    @pytest.mark.parametrize("name", ["FOO-MNT", "foo-mnt", "Foo-Mnt"])
    async def test_is_found_in_any_case_with_its_numbers(self, client: httpx2.AsyncClient, name: str) -> None:
        found = (await client.get(f"/registry/api/v1/mntner/{name}")).json()
        assert (found["mntner"], found["asns"]) == ("FOO-MNT", [4242429901, 4294967295])

    async def test_a_key_out_of_use_is_none_and_an_odd_one_proves_nothing(
        self, client: httpx2.AsyncClient
    ) -> None:
        found = (await client.get("/registry/api/v1/mntner/FOO-MNT")).json()
        assert [(auth["method"], auth["raw"]) for auth in found["auth"]] == [
            ("ssh-ed25519", f"ssh-ed25519 {KEY} foo@laptop.example"),
            ("unknown", "MTN-OLD"),
        ]

    @pytest.mark.parametrize("name", ["BAR-MNT", "%20", "'; --", "FOO-MNT%00"])
    async def test_an_unknown_one_is_a_problem(self, client: httpx2.AsyncClient, name: str) -> None:
        answer = await client.get(f"/registry/api/v1/mntner/{name}")
        assert (answer.status_code, answer.json()["code"]) == (404, "mntner_unknown")


class TestRoutes:
    async def test_are_listed_by_origin_ipv4_first(self, client: httpx2.AsyncClient) -> None:
        answer = await client.get("/registry/api/v1/routes", params={"origin": "AS4242429901"})
        assert answer.json() == {
            "origin": 4242429901,
            "routes": [
                {"prefix": "172.20.0.0/24", "max_length": 26, "mnt_by": ["FOO-MNT"]},
                {"prefix": "fd42:1::/48", "max_length": None, "mnt_by": ["FOO-MNT"]},
            ],
            "truncated": False,
        }

    async def test_of_a_great_many_the_first_are_told_and_that_there_are_more(
        self, client: httpx2.AsyncClient, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(records, "MOST_ROUTES", 1)
        found = (await client.get("/registry/api/v1/routes", params={"origin": "AS4242429901"})).json()
        assert ([route["prefix"] for route in found["routes"]], found["truncated"]) == (
            ["172.20.0.0/24"],
            True,
        )

    async def test_an_as_without_any_has_none(self, client: httpx2.AsyncClient) -> None:
        answer = await client.get("/registry/api/v1/routes", params={"origin": "4242429999"})
        assert answer.json() == {"origin": 4242429999, "routes": [], "truncated": False}

    async def test_need_an_origin(self, client: httpx2.AsyncClient) -> None:
        assert (await client.get("/registry/api/v1/routes")).status_code == 422


class TestConditional:
    async def test_who_has_the_answer_gets_no_body(self, client: httpx2.AsyncClient) -> None:
        first = await client.get("/registry/api/v1/asn/AS4242429901")
        tag = first.headers["etag"]
        assert tag.startswith('"')
        for known in (tag, f"W/{tag}", f'"other", {tag}', "*"):
            again = await client.get("/registry/api/v1/asn/AS4242429901", headers={"If-None-Match": known})
            assert (again.status_code, again.content, again.headers["etag"]) == (304, b"", tag)


class TestStatus:
    async def test_tells_what_is_served_and_what_is_wrong(self, client: httpx2.AsyncClient) -> None:
        status = (await client.get("/registry/api/v1/status")).json()
        assert len(status["commit"]) == 40
        assert status["counts"]["objects"] == {"aut-num": 3, "mntner": 1, "route": 1, "route6": 1}
        assert status["counts"]["routes"] == {"route": 1, "route6": 2}
        assert status["counts"]["problems"]["nul_byte"] == 1
        assert [sync["outcome"] for sync in status["syncs"]] == ["applied"]


class TestDescription:
    async def test_every_look_up_has_an_example(self, client: httpx2.AsyncClient) -> None:
        schema: dict[str, Any] = (await client.get("/registry/openapi.json")).json()
        for name in ("AsnRecord", "MntnerRecord", "RoutesRecord"):
            assert schema["components"]["schemas"][name]["examples"]

    async def test_readiness_and_metrics_are_there(self, client: httpx2.AsyncClient) -> None:
        assert (await client.get("/registry/readyz")).status_code == 200
        assert "routeloom_registry_syncs_total" in (await client.get("/registry/metrics")).text
