"""The life of objects, from git to HTTP."""

from pathlib import Path

import pytest
from sqlalchemy import select

from registry_server.app import create_app
from registry_server.history.models import ChangeRow, CommitRow
from registry_server.history.repository import HistoryRepository
from registry_server.samples.schemas import SamplePlan
from registry_server.samples.service import generate
from tests.integration.registry.conftest import Registries, Registry, client_of
from tests.integration.registry.objects import ASN, FILES
from tests.integration.registry.upstream import Upstream

AS_PATH = "data/aut-num/AS4242429901"
HISTORY = "/registry/api/v1/objects/aut-num/AS4242429901/history"


async def rows(registry: Registry) -> tuple[list[tuple[object, ...]], list[tuple[object, ...]]]:
    async with registry.resources.database.reading() as session:
        commits = await session.execute(select(*CommitRow.__table__.columns).order_by(CommitRow.position))
        changes = await session.execute(
            select(*ChangeRow.__table__.columns).order_by(ChangeRow.position, ChangeRow.path)
        )
        return [tuple(row) for row in commits], [tuple(row) for row in changes]


class TestChanges:
    async def test_tell_who_changed_what_and_how(self, registries: Registries, upstream: Upstream) -> None:
        upstream.commit(FILES)
        changed = ASN.replace("FOO-AS", "BAR-AS").encode()
        second = upstream.commit({AS_PATH: changed})
        removed = upstream.commit({AS_PATH: None})
        registry = await registries.open(upstream, interval="PT24H")
        await registry.sync()
        app = create_app(registry.resources.settings, registry.resources)
        async with client_of(app) as client:
            page = (await client.get(HISTORY)).json()
            assert [each["kind"] for each in page["items"]] == ["removed", "changed", "added"]
            assert (page["items"][0]["author"], page["items"][0]["commit"]) == ("Foo", removed)
            assert page["items"][1]["authored_at"] == "2023-11-14T22:13:20Z"
            detail = (await client.get(f"{HISTORY}/{second[:12]}")).json()
            assert detail["text"] == changed.decode()
            assert detail["diff"].splitlines()[1:5] == [
                " aut-num:            AS4242429901",
                "-as-name:            FOO-AS",
                "+as-name:            BAR-AS",
                " admin-c:            Foo-DN42",
            ]
            gone = (await client.get(f"{HISTORY}/{removed}")).json()
            assert gone["text"] is None
            assert {line[0] for line in gone["diff"].splitlines()[1:]} == {"-"}

    async def test_the_page_of_a_removed_object_tells_its_life(
        self, registries: Registries, upstream: Upstream
    ) -> None:
        upstream.commit(FILES)
        removed = upstream.commit({AS_PATH: None})
        registry = await registries.open(upstream, interval="PT24H")
        await registry.sync()
        app = create_app(registry.resources.settings, registry.resources)
        async with client_of(app) as client:
            page = await client.get("/registry/objects/aut-num/AS4242429901")
            assert page.status_code == 404
            assert "No longer in the registry" in page.text
            assert f"/registry/objects/aut-num/AS4242429901/changes/{removed}" in page.text
            assert (await client.get(f"{HISTORY}/{removed}")).status_code == 200

    async def test_a_move_names_both_ends(self, registries: Registries, upstream: Upstream) -> None:
        upstream.commit({"data/aut-num/AS4242429911": ASN.encode()})
        upstream.commit({"data/aut-num/AS4242429911": None, AS_PATH: ASN.encode()})
        registry = await registries.open(upstream)
        await registry.sync()
        _, changes = await rows(registry)
        assert [(row[0], row[4]) for row in changes][1:] == [
            (AS_PATH, "data/aut-num/AS4242429911"),
            ("data/aut-num/AS4242429911", AS_PATH),
        ]

    async def test_pages_follow_each_other(self, registries: Registries, upstream: Upstream) -> None:
        for step in range(7):
            upstream.commit({AS_PATH: ASN.replace("FOO-AS", f"STEP-{step}").encode()})
        registry = await registries.open(upstream, interval="PT24H")
        await registry.sync()
        app = create_app(registry.resources.settings, registry.resources)
        async with client_of(app) as client:
            whole = (await client.get(HISTORY)).json()["items"]
            first = (await client.get(HISTORY, params={"limit": 3})).json()
            rest = (await client.get(HISTORY, params={"cursor": first["next"]})).json()
            assert (len(whole), first["items"] + rest["items"]) == (7, whole)

    @pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
    async def test_refusals_say_what_is_missing(self, registries: Registries, upstream: Upstream) -> None:
        upstream.commit(FILES)
        registry = await registries.open(upstream, interval="PT24H")
        await registry.sync()
        app = create_app(registry.resources.settings, registry.resources)
        async with client_of(app) as client:
            answers = {
                "/registry/api/v1/objects/aut-num/AS1/history": (404, "object_history_unknown"),
                "/registry/api/v1/objects/aut-num/AS1%00/history": (404, "object_history_unknown"),
                f"{HISTORY}/{'0' * 40}": (404, "object_change_unknown"),
                f"{HISTORY}?cursor=x": (422, "invalid_input"),
                f"{HISTORY}/zzzzzzz": (422, "invalid_input"),
            }
            for path, wanted in answers.items():
                answer = await client.get(path)
                assert (answer.status_code, answer.json()["code"]) == wanted, path
            commit = (await client.get(HISTORY)).json()["items"][0]["commit"]
            await registry.resources.upstream.discard()
            lost = await client.get(f"{HISTORY}/{commit}")
            assert (lost.status_code, lost.json()["code"]) == (503, "history_text_unavailable")


class TestIndex:
    async def test_grows_step_by_step_into_what_one_pass_gives(
        self, registries: Registries, tmp_path: Path, upstream: Upstream
    ) -> None:
        """Merges, renames, deletions, and dates that do not rise."""
        generated = Upstream(tmp_path / "sample")
        generate(SamplePlan(objects=150, commits=24), generated.directory)
        commits = generated.git("rev-list", "--first-parent", "--reverse", "master").split()
        upstream.git("fetch", "--quiet", str(generated.directory), "+refs/heads/*:refs/side/*")
        registry = await registries.open(upstream, drop_share=1)
        for position in (0, 1, 4, 5, 11, 23):
            upstream.git("update-ref", "refs/heads/master", commits[position])
            await registry.sync()
        stepwise = await rows(registry)
        assert [row[1] for row in stepwise[0]] == commits
        async with registry.resources.database.transaction() as session:
            await HistoryRepository(session).clear()
        upstream.commit({"README.md": b"one more"})
        await registry.sync()
        whole = await rows(registry)
        assert whole[1] == stepwise[1]
        assert whole[0][:-1] == stepwise[0]

    async def test_every_change_is_what_git_says_of_the_path(
        self, registries: Registries, tmp_path: Path
    ) -> None:
        directory = tmp_path / "sample"
        generate(SamplePlan(objects=150, commits=24), directory)
        generated = Upstream(directory)
        registry = await registries.open(generated)
        await registry.sync()
        names, changes = await rows(registry)
        of = {row[0]: row[1] for row in names}
        busiest = max((row[0] for row in changes), key=[row[0] for row in changes].count)
        options = ("--first-parent", "--diff-merges=first-parent", "--format=%H", "--topo-order")
        wanted = generated.git("log", *options, "master", "--", str(busiest)).split()
        found = [of[row[1]] for row in changes if row[0] == busiest]
        assert found[::-1] == wanted

    async def test_a_rewritten_line_replaces_the_history(
        self, registries: Registries, tmp_path: Path
    ) -> None:
        directory = tmp_path / "sample"
        generate(SamplePlan(objects=150, commits=12), directory)
        registry = await registries.open(Upstream(directory))
        await registry.sync()
        generate(SamplePlan(objects=150, commits=12, force_push=True), directory)
        await registry.sync()
        line = Upstream(directory).git("rev-list", "--first-parent", "--reverse", "master").split()
        assert [row[1] for row in (await rows(registry))[0]] == line

    @pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
    async def test_an_odd_author_and_an_odd_summary_are_plain_text(
        self, registries: Registries, upstream: Upstream
    ) -> None:
        stream = (
            b"commit refs/heads/master\nauthor A\x1fB\xff\x02 <a@b.example> -5 +0000\n"
            b"committer C <c@d.example> 99999999999999 +0000\ndata 9\na\x1f\x02b\xff\ncd\n"
            b"M 100644 inline data/person/\x02X\ndata 3\nx:y\ndone\n"
        )
        upstream._import(stream)
        registry = await registries.open(upstream)
        await registry.sync()
        ((_, _, author, _, summary),), changes = await rows(registry)
        assert "\x02" not in f"{author}{summary}"
        assert len(changes) == 1
