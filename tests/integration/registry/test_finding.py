"""Prefixes, searches and as-sets over HTTP."""

from itertools import pairwise
from typing import Any

import pytest

from registry_server.lookup.repository.catalogue import CatalogueRepository
from registry_server.lookup.repository.prefixes import PrefixRepository
from registry_server.lookup.repository.search import SearchRepository
from registry_server.lookup.repository.sets import SetRepository
from registry_server.lookup.rules.searching import read_question
from registry_server.lookup.service import FindingService
from tests.integration.registry.conftest import Registries
from tests.integration.registry.objects import FILES
from tests.integration.registry.upstream import Content, Upstream
from tests.integration.registry.world import Served, as_set, served

__all__ = ["served"]
ENDS = ("from_class", "from_key", "to_class", "to_key")
module_wide = pytest.mark.asyncio(loop_scope="module")


def shown(answer: Any) -> list[tuple[str, str]]:
    return [(item["object_class"], item["prefix"]) for item in answer["items"]]


@module_wide
class TestPrefix:
    async def test_the_longest_match_is_the_nearest_network_and_the_nearest_routes(
        self, served: Served
    ) -> None:
        found = await served.get("/prefix/172.20.0.129")
        assert found["prefix"] == "172.20.0.129/32"
        assert shown(found) == [("inetnum", "172.20.0.128/25"), ("route", "172.20.0.128/25")]
        item = found["items"][1]
        assert (item["origins"], item["mnt_by"]) == ([4242429901], ["FOO-MNT"])

    async def test_an_address_outside_all_but_the_root_has_the_root(self, served: Served) -> None:
        found = await served.get("/prefix/172.22.0.1")
        assert shown(found) == [("inetnum", "172.20.0.0/14")]
        assert found["items"][0]["policy"] == "open"

    async def test_exact_is_exact(self, served: Served) -> None:
        found = await served.get("/prefix/172.20.0.0/24", match="exact")
        assert shown(found) == [("inetnum", "172.20.0.0/24"), ("route", "172.20.0.0/24")]
        assert found["items"][1]["max_length"] == 26
        assert (await served.get("/prefix/172.20.0.0/23", match="exact"))["items"] == []

    async def test_covering_goes_from_the_nearest_to_the_root(self, served: Served) -> None:
        found = await served.get("/prefix/172.20.0.192/26", match="covering")
        assert shown(found) == [
            ("route", "172.20.0.192/26"),
            ("inetnum", "172.20.0.128/25"),
            ("route", "172.20.0.128/25"),
            ("inetnum", "172.20.0.0/24"),
            ("route", "172.20.0.0/24"),
            ("inetnum", "172.20.0.0/16"),
            ("inetnum", "172.20.0.0/14"),
        ]

    async def test_more_specific_comes_by_address_page_by_page(self, served: Served) -> None:
        found: list[tuple[str, str]] = []
        page = await served.get("/prefix/172.20.0.0/16", match="more-specific", limit=2)
        while True:
            found += shown(page)
            if page["next"] is None:
                break
            page = await served.get(
                "/prefix/172.20.0.0/16", match="more-specific", limit=2, cursor=page["next"]
            )
        assert found == [
            ("inetnum", "172.20.0.0/24"),
            ("route", "172.20.0.0/24"),
            ("inetnum", "172.20.0.128/25"),
            ("route", "172.20.0.128/25"),
            ("route", "172.20.0.192/26"),
        ]

    async def test_ipv6_is_answered_alike_and_origins_are_told(self, served: Served) -> None:
        found = await served.get("/prefix/FD42:0001::1")
        assert shown(found) == [("inet6num", "fd42:1::/48"), ("route6", "fd42:1::/48")]
        assert found["items"][1]["origins"] == [4242429901, 4242429902]

    async def test_a_less_specific_prefix_than_any_object_has_nothing_above_it(self, served: Served) -> None:
        assert (await served.get("/prefix/0.0.0.0/0"))["items"] == []
        assert len((await served.get("/prefix/::/0", match="more-specific"))["items"]) == 2

    @pytest.mark.parametrize("prefix", ["172.20.0.1/24", "172.20.0.0/33", "foo", "1.2.3", "::/129", "%00"])
    async def test_what_is_no_prefix_is_invalid(self, served: Served, prefix: str) -> None:
        assert await served.refused(f"/prefix/{prefix}") == (422, "invalid_input")


@module_wide
class TestSearch:
    async def test_the_key_comes_first_then_its_beginning_then_its_parts(self, served: Served) -> None:
        found = await served.get("/search", q="as-foo")
        assert (found["items"][0]["key"], found["items"][0]["rank"]) == ("AS-FOO", 0)
        ranks = [hit["rank"] for hit in (await served.get("/search", q="foo"))["items"]]
        assert ranks == sorted(ranks)

    async def test_an_as_number_is_found_without_its_letters(self, served: Served) -> None:
        found = await served.get("/search", q="4242429901")
        assert (found["items"][0]["key"], found["items"][0]["rank"]) == ("AS4242429901", 0)

    @pytest.mark.parametrize("q", ["ÉLAN", "élan foo", "alert(1)", "Foo Élan"])
    async def test_words_in_the_text_are_found_in_any_case(self, served: Served, q: str) -> None:
        keys = [hit["key"] for hit in (await served.get("/search", q=q))["items"]]
        assert keys == ["Foo-DN42"]

    @pytest.mark.parametrize("q", ["%%", "__", "\\\\", "'; --", "\x00\x00a"])
    async def test_signs_of_sql_are_signs(self, served: Served, q: str) -> None:
        answer = await served.client.get("/registry/api/v1/search", params={"q": q})
        assert answer.status_code in {200, 422}
        assert answer.json().get("items", []) == []

    async def test_can_be_held_to_some_classes(self, served: Served) -> None:
        found = await served.get("/search", q="foo", **{"class": ["mntner", "as-set"]})
        assert {hit["object_class"] for hit in found["items"]} <= {"mntner", "as-set"}
        assert await served.refused("/search", q="foo", **{"class": "x"}) == (404, "object_class_unknown")

    async def test_pages_follow_each_other(self, served: Served) -> None:
        whole = await served.get("/search", q="42424299", limit=50)
        keys: list[tuple[str, str]] = []
        page = await served.get("/search", q="42424299", limit=2)
        while True:
            keys += [(hit["object_class"], hit["key"]) for hit in page["items"]]
            if page["next"] is None:
                break
            page = await served.get("/search", q="42424299", limit=2, cursor=page["next"])
        assert keys == [(hit["object_class"], hit["key"]) for hit in whole["items"]]

    async def test_one_letter_is_no_question(self, served: Served) -> None:
        assert await served.refused("/search", q="a") == (422, "invalid_input")

    async def test_proofs_are_not_searched(self, served: Served) -> None:
        assert (await served.get("/search", q="AAAAC3NzaC1lZDI1NTE5"))["items"] == []


@module_wide
class TestConnection:
    @pytest.mark.parametrize(
        ("ends", "chain"),
        [
            (
                ("route", "172.20.0.0/24", "person", "foo-dn42"),
                [
                    ("172.20.0.0/24", None, None),
                    ("AS4242429901", "origin", "before"),
                    ("Foo-DN42", "admin-c", "before"),
                ],
            ),
            (
                ("aut-num", "AS4242429901", "as-set", "AS-BAR"),
                [
                    ("AS4242429901", None, None),
                    ("AS-FOO", "members", "this"),
                    ("AS-BAR", "members", "before"),
                ],
            ),
            (
                ("mntner", "FOO-MNT", "as-set", "AS-SELF"),
                [("FOO-MNT", None, None), ("AS-SELF", "mnt-by", "this")],
            ),
            (("mntner", "FOO-MNT", "mntner", "foo-mnt"), [("FOO-MNT", None, None)]),
        ],
    )
    async def test_is_a_shortest_chain_of_names(
        self, served: Served, ends: tuple[str, ...], chain: list[tuple[str, str | None, str | None]]
    ) -> None:
        found = (await served.get("/connection", **dict(zip(ENDS, ends, strict=True))))["steps"]
        if len(chain) == 3:
            # Several chains may be as short; both ends and the length are certain.
            assert [found[0]["key"], found[-1]["key"], len(found)] == [chain[0][0], chain[-1][0], 3]
        else:
            assert [(each["key"], each["attribute"], each["named_by"]) for each in found] == chain

    async def test_of_every_two_links_is_one_that_the_texts_have(self, served: Served) -> None:
        ends = dict(zip(ENDS, ("route", "172.20.0.192/26", "as-set", "AS-FOO"), strict=True))
        steps = (await served.get("/connection", **ends))["steps"]
        for before, step in pairwise(steps):
            holder, other = (before, step) if step["named_by"] == "before" else (step, before)
            shown = await served.get(f"/objects/{holder['object_class']}/{holder['key']}")
            values = [each["value"] for each in shown["attributes"] if each["name"] == step["attribute"]]
            assert any(other["key"].lower() in value.lower() for value in values)

    @pytest.mark.parametrize(
        ("ends", "code"),
        [
            (("mntner", "FOO-MNT", "mntner", "NOBODY-MNT"), "object_unknown"),
            (("thing", "FOO-MNT", "mntner", "FOO-MNT"), "object_class_unknown"),
            (("mntner", "FOO-MNT", "aut-num", "AS4242429909"), "objects_not_connected"),
        ],
    )
    async def test_refusals_tell_what_is_missing(
        self, served: Served, ends: tuple[str, ...], code: str
    ) -> None:
        asked = dict(zip(ENDS, ends, strict=True))
        assert await served.refused("/connection", **asked) == (404, code)


@module_wide
class TestAsSet:
    async def test_cycles_end_and_members_by_reference_need_a_trusted_maintainer(
        self, served: Served
    ) -> None:
        assert await served.get("/as-set/as-foo") == {
            "as_set": "AS-FOO",
            "asns": [4242429901, 4242429902, 4242429903],
            "sets": ["AS-BAR", "AS-FOO"],
            "by_reference": [4242429903],
            "missing": ["AS-GONE"],
            "warnings": [],
        }

    async def test_a_set_of_itself_is_empty(self, served: Served) -> None:
        found = await served.get("/as-set/AS-SELF")
        assert (found["asns"], found["sets"], found["missing"]) == ([], ["AS-SELF"], [])

    async def test_as_0_is_told_and_warned_of_and_anybody_may_be_a_member(self, served: Served) -> None:
        found = await served.get("/as-set/AS-OPEN")
        assert (found["asns"], found["warnings"]) == ([0, 4242429904], ["as0"])

    @pytest.mark.parametrize("name", ["AS-GONE", "FOO-MNT", "%00"])
    async def test_an_unknown_one_is_a_problem(self, served: Served, name: str) -> None:
        assert await served.refused(f"/as-set/{name}") == (404, "as_set_unknown")


async def test_a_chain_of_5000_sets_is_walked_to_its_end(registries: Registries, upstream: Upstream) -> None:
    chain: dict[str | bytes, Content] = {
        f"data/as-set/AS-C{n}": as_set(f"AS-C{n}", ("members", f"AS-C{n + 1}"), ("members", f"AS{n + 1}"))
        for n in range(5000)
    }
    upstream.commit({**FILES, **chain})
    registry = await registries.open(upstream)
    await registry.sync()
    async with registry.resources.database.reading() as session:
        service = FindingService(
            PrefixRepository(session),
            CatalogueRepository(session),
            SearchRepository(session),
            SetRepository(session),
        )
        found = await service.as_set("AS-C0")
    assert len(found.asns) == len(found.sets) == 5000
    assert found.missing == ["AS-C5000"]


@pytest.mark.parametrize("database_url", ["postgresql"], indirect=True)
async def test_postgresql_answers_a_search_from_its_trigrams(
    registries: Registries, upstream: Upstream
) -> None:
    upstream.commit(FILES)
    registry = await registries.open(upstream)
    await registry.sync()
    async with registry.resources.database.reading() as session:
        connection = await session.connection()
        for other in ("seqscan", "indexscan"):
            await connection.exec_driver_sql(f"SET LOCAL enable_{other} = off")
        statement = SearchRepository.statement(read_question("example network", []), None, 10)
        compiled = statement.compile(dialect=connection.dialect, compile_kwargs={"literal_binds": True})
        plan = "\n".join((await connection.exec_driver_sql(f"EXPLAIN {compiled}")).scalars())
    assert "ix_object_texts_body_trigrams" in plan
