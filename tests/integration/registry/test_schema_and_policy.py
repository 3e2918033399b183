"""The registry's own schemas and rules over HTTP: what objects are made of, and whether a change may be."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from registry_server.app import create_app
from shared.testing.waiting import wait_until
from tests.integration.registry.conftest import Registries, client_of, fresh_database
from tests.integration.registry.upstream import Content, Upstream
from tests.integration.registry.world import API, WORLD, Served, text

pytestmark = pytest.mark.asyncio(loop_scope="module")
END = "mnt-by:             DN42-MNT\nsource:             DN42\n"
SCHEMA = (
    "schema:             AUT-NUM-SCHEMA\nref:                dn42.aut-num\n"
    "key:                aut-num required single primary schema > [as-number]\n"
    "key:                as-name required single > [name]\n"
    "key:                mnt-by required multiple lookup=dn42.mntner > [mntner]\n"
    "key:                admin-c optional multiple lookup=dn42.person > [contact]\n"
    "key:                policy optional single > {open|closed}\n"
    "key:                source required single > [registry]\n"
    "key:                nonsense\n"
)
OBJECTS: dict[str | bytes, Content] = {
    **WORLD,
    "data/schema/AUT-NUM-SCHEMA": (SCHEMA + END).encode(),
    "data/as-block/AS4242429900-AS4242429999": (
        f"as-block:           AS4242429900 - AS4242429999\npolicy:             open\n{END}"
    ).encode(),
    "data/as-block/AS4242420000-AS4242429999": (
        f"as-block:           AS4242420000 - AS4242429999\npolicy:             closed\n{END}"
    ).encode(),
}
NEW = (
    "aut-num:            AS4242429950\nas-name:            NEW-AS\n"
    "mnt-by:             NEW-MNT\nsource:             DN42\n"
)
NEW_MNTNER = "mntner:             NEW-MNT\nmnt-by:             NEW-MNT\nsource:             DN42\n"


@pytest_asyncio.fixture(scope="module", loop_scope="module", params=["sqlite"])
async def served(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Served]:
    """On one database: all of this is answered from the snapshot. No test changes it."""
    directory: Path = tmp_path_factory.mktemp("policy")
    upstream = Upstream.create(directory / "upstream.git")
    upstream.commit(OBJECTS)
    with fresh_database(request, directory) as url:
        async with AsyncExitStack() as stack:
            registry = await Registries(url, directory, stack).open(upstream, interval="PT24H")
            await registry.sync()
            app = create_app(registry.resources.settings, registry.resources)
            client = await stack.enter_async_context(client_of(app))
            await wait_until(lambda: registry.resources.snapshots.current is not None)
            yield Served(client, registry, upstream)


async def ask(served: Served, *changes: dict[str, Any], mntner: str | None = "NEW-MNT") -> Any:
    answer = await served.client.post(f"{API}/policy", json={"mntner": mntner, "changes": [*changes]})
    assert answer.status_code == 200, answer.text
    return answer.json()


async def refused(served: Served, *changes: dict[str, Any]) -> tuple[int, str, str]:
    answer = await served.client.post(f"{API}/policy", json={"changes": [*changes]})
    error = answer.json()["errors"][0]
    return answer.status_code, error["field"], error["code"]


class TestSchemas:
    async def test_a_class_is_as_the_registry_describes_it(self, served: Served) -> None:
        found = await served.get("/schema/aut-num")
        assert (found["source"], found["schema_key"]) == ("registry", "AUT-NUM-SCHEMA")
        assert {rule["name"]: rule["lookup"] for rule in found["attributes"]}["admin-c"] == ["person"]
        assert [fault["line"] for fault in found["faults"]] == [9]

    async def test_a_class_without_a_schema_is_as_this_server_knows_it(self, served: Served) -> None:
        found = await served.get("/schema/dns")
        assert (found["object_class"], found["source"], found["directory"]) == ("domain", "built-in", "dns")

    async def test_all_classes_are_listed(self, served: Served) -> None:
        listed = [each["object_class"] for each in (await served.get("/schema"))["items"]]
        assert listed == sorted(listed)
        assert {"aut-num", "schema", "route6"} <= {*listed}

    async def test_an_unknown_class_is_told_where_to_look(self, served: Served) -> None:
        answer = await served.client.get(f"{API}/schema/nope")
        assert (answer.status_code, answer.json()["code"]) == (404, "object_class_unknown")
        assert f"{API}/schema" in answer.json()["detail"]

    async def test_findings_are_listed_page_by_page(self, served: Served) -> None:
        whole = await served.get("/schema/findings", **{"class": "aut-num"})
        assert whole["total"] == len(whole["items"]) > 2
        assert {item["object_class"] for item in whole["items"]} == {"aut-num"}
        told = {(item["key"], item["code"]) for item in whole["items"]}
        assert ("AS4242429904", "unknown_attribute") in told
        items: list[Any] = []
        cursor: str | None = None
        while cursor or not items:
            asked = {"class": "aut-num", "limit": "1", **({"cursor": cursor} if cursor else {})}
            page = await served.get("/schema/findings", **asked)
            items, cursor = [*items, *page["items"]], page["next"]
        assert items == whole["items"]

    async def test_the_page_of_an_object_shows_them(self, served: Served) -> None:
        answer = await served.client.get("/registry/objects/aut-num/AS4242429904")
        assert "unknown_attribute" in answer.text
        assert answer.text.count("member-of is no attribute of aut-num") == 2

    async def test_the_page_of_a_class_lists_its_objects_and_attributes(self, served: Served) -> None:
        answer = await served.client.get("/registry/objects/aut-num")
        assert "/registry/objects/aut-num/AS4242429904" in answer.text
        assert "/registry/objects/schema/AUT-NUM-SCHEMA" in answer.text
        assert "{open|closed}" in answer.text
        empty = await served.client.get("/registry/objects/telephony")
        assert "None of this class" in empty.text
        unknown = await served.client.get("/registry/objects/nope", headers={"Accept": "text/html"})
        assert unknown.status_code == 404


class TestQuestions:
    async def test_an_open_block_gives_to_anybody(self, served: Served) -> None:
        found = await served.get("/policy/aut-num/4242429950", mntner="any-mnt")
        (verdict,) = found["changes"]
        assert (found["allowed"], verdict["action"], verdict["key"]) == (True, "add", "AS4242429950")
        assert [(each["key"], each["policy"]) for each in verdict["around"]] == [
            ("AS4242429900 - AS4242429999", "open"),
            ("AS4242420000 - AS4242429999", "closed"),
        ]

    async def test_a_closed_one_to_its_maintainer_alone(self, served: Served) -> None:
        refused = await served.get("/policy/aut-num/AS4242420001", mntner="FOO-MNT")
        assert [each["code"] for each in refused["changes"][0]["objections"]] == ["policy_not_open"]
        allowed = await served.get("/policy/aut-num/AS4242420001", mntner="dn42-mnt")
        assert allowed["allowed"] is True

    async def test_what_is_there_is_changed_by_its_own(self, served: Served) -> None:
        mine = await served.get("/policy/route/172.20.0.128_25", mntner="foo-mnt")
        assert (mine["allowed"], mine["changes"][0]["action"]) == (True, "change")
        theirs = await served.get("/policy/route/172.20.0.128/25", mntner="OTHER-MNT")
        assert theirs["changes"][0]["objections"][0]["code"] == "policy_not_yours"

    @pytest.mark.parametrize(
        ("path", "status"),
        [
            ("aut-num/foo", 422),
            ("route/172.20.0.1/24", 422),
            ("mntner/%00", 422),
            ("mntner/.hidden-MNT", 422),
            ("nope/foo", 404),
        ],
    )
    async def test_what_can_be_no_key_is_refused(self, served: Served, path: str, status: int) -> None:
        assert (await served.client.get(f"{API}/policy/{path}")).status_code == status


class TestChanges:
    async def test_what_comes_together_counts_as_there(self, served: Served) -> None:
        found = await ask(served, {"text": NEW_MNTNER}, {"text": NEW})
        assert found["allowed"] is True
        assert [change["problems"] for change in found["changes"]] == [[], []]
        alone = await ask(served, {"text": NEW})
        assert [each["code"] for each in alone["changes"][0]["problems"]] == ["dangling_reference"]

    async def test_a_text_is_held_against_grammar_and_schema(self, served: Served) -> None:
        wrong = NEW.replace("as-name:            NEW-AS\n", "nick: foo\npolicy:             maybe\n")
        (verdict,) = (await ask(served, {"text": wrong.replace("NEW-MNT", "FOO-MNT")}))["changes"]
        assert [(each["code"], each["line"]) for each in verdict["problems"]] == [
            ("missing_attribute", None),
            ("misaligned_value", 2),
            ("unknown_attribute", 2),
            ("invalid_form", 3),
        ]

    async def test_removing_is_a_change_of_what_is_there(self, served: Served) -> None:
        gone = {"object_class": "as-set", "key": "as-foo", "text": None}
        (verdict,) = (await ask(served, gone, mntner="FOO-MNT"))["changes"]
        assert (verdict["action"], verdict["allowed"]) == ("remove", True)

    async def test_without_a_maintainer_names_alone_count(self, served: Served) -> None:
        (verdict,) = (await ask(served, {"text": NEW_MNTNER.replace("NEW-MNT", "NEW")}, mntner=None))[
            "changes"
        ]
        assert [each["code"] for each in verdict["objections"]] == ["policy_name"]

    async def test_what_cannot_be_judged_is_refused_where_it_stands(self, served: Served) -> None:
        assert await refused(served, {"text": "hello"}) == (422, "changes.0", "object_class_missing")
        assert await refused(served, {"text": "person: Foo\n"}) == (422, "changes.0", "key_missing")
        gone = {"object_class": "person", "key": "NOBODY-DN42"}
        assert await refused(served, {"text": NEW}, gone) == (422, "changes.1", "object_unknown")
        many = [{"text": NEW}] * 51
        assert (await refused(served, *many))[0] == 422
        assert (await refused(served, {"text": "a" * 65_537}))[0] == 422

    async def test_nothing_is_changed_by_asking(self, served: Served) -> None:
        await ask(served, {"text": NEW})
        assert await served.refused("/objects/aut-num/AS4242429950") == (404, "object_unknown")

    async def test_a_body_that_is_no_question_is_refused(self, served: Served) -> None:
        for body in (b"", b"[]", b'{"changes": []}', b"\xff", b'{"changes": [{"text": "\\ud800"}]}'):
            answer = await served.client.post(
                f"{API}/policy", content=body, headers={"Content-Type": "application/json"}
            )
            assert answer.status_code in {400, 422}, body

    async def test_a_body_of_another_kind_is_told_what_to_send(self, served: Served) -> None:
        answer = await served.client.post(
            f"{API}/policy", content=b"{}", headers={"Content-Type": "text/plain"}
        )
        assert answer.status_code == 422
        assert "Content-Type: application/json" in answer.json()["errors"][0]["message"]


async def test_before_the_first_sync_nothing_is_judged(tmp_path: Path, sqlite_template: Path) -> None:
    database = tmp_path / "registry.db"
    database.write_bytes(sqlite_template.read_bytes())
    upstream = Upstream.create(tmp_path / "upstream.git")
    upstream.commit({"data/person/FOO-DN42": text(("person", "Foo"), ("nic-hdl", "FOO-DN42"))})
    async with AsyncExitStack() as stack:
        registries = Registries(f"sqlite:///{database}", tmp_path, stack)
        registry = await registries.open(upstream, interval="PT24H")
        settings = registry.resources.settings.model_copy(
            update={"mirror": registry.resources.settings.mirror.model_copy(update={"url": None})}
        )
        client = await stack.enter_async_context(client_of(create_app(settings, registry.resources)))
        for path in ("schema", "schema/aut-num", "schema/findings", "policy/aut-num/AS1"):
            answer = await client.get(f"{API}/{path}")
            assert answer.status_code == 503, path
