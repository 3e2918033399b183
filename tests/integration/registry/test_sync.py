"""From commits to the index, on both databases."""

from pathlib import Path

import pytest

from registry_server.mirror import tasks
from registry_server.mirror.errors import RepositoryBroken, SyncHeld, UpstreamUnavailable
from registry_server.mirror.repository import MirrorRepository
from registry_server.mirror.schemas import SyncMode, SyncOutcome
from registry_server.samples.schemas import Manifest, SamplePlan
from registry_server.samples.service import generate
from tests.integration.registry.conftest import Registries
from tests.integration.registry.upstream import Special, Upstream

END = "mnt-by:             FOO-MNT\nsource:             DN42\n"
FOO = f"mntner:             FOO-MNT\n{END}".encode()


def route(prefix: str, origin: str = "AS4242429901") -> bytes:
    return f"route:              {prefix}\norigin:             {origin}\n{END}".encode()


def routes(count: int) -> dict[str | bytes, bytes | Special | None]:
    return {f"data/route/172.20.{n}.0_24": route(f"172.20.{n}.0/24") for n in range(count)}


class TestWholeSample:
    async def test_counts_and_problems_are_those_that_were_planted(
        self, registries: Registries, sample: tuple[Upstream, Manifest]
    ) -> None:
        upstream, manifest = sample
        registry = await registries.open(upstream)
        done = await registry.sync()
        status = await registry.mirror.status()
        assert (done.outcome, done.mode, done.to_commit) == (
            SyncOutcome.APPLIED,
            SyncMode.FULL,
            manifest.head,
        )
        assert status.counts.objects == manifest.objects
        assert status.counts.routes == manifest.routes
        assert status.counts.problems == manifest.problems
        planted = sorted(((each.path, each.code, each.line) for each in manifest.planted), key=str)
        assert await registry.problems() == planted

    async def test_every_object_keeps_its_text_byte_for_byte(
        self, registries: Registries, sample: tuple[Upstream, Manifest]
    ) -> None:
        upstream, manifest = sample
        registry = await registries.open(upstream)
        await registry.sync()
        raws, blobs = await registry.raws(), upstream.blobs()
        assert len(raws) == sum(manifest.objects.values())
        assert {path: blobs[path] for path in raws} == raws


class TestIncremental:
    async def test_every_step_of_a_history_leads_to_what_a_full_sync_gives(
        self, registries: Registries, tmp_path: Path, upstream: Upstream
    ) -> None:
        """Additions, changes, deletions, renames and merges, in strides of one to five commits."""
        generated = Upstream(tmp_path / "sample")
        generate(SamplePlan(objects=150, commits=24), generated.directory)
        commits = generated.git("rev-list", "--first-parent", "--reverse", "master").split()
        upstream.git("fetch", "--quiet", str(generated.directory), "+refs/heads/*:refs/side/*")
        registry = await registries.open(upstream, drop_share=1)
        modes = []
        for position in (0, 1, 2, 5, 10, 15, 16, 20, 23):
            upstream.git("update-ref", "refs/heads/master", commits[position])
            modes.append((await registry.sync()).mode)
        stepwise = await registry.everything()
        counts = (await registry.mirror.status()).counts
        assert modes == [SyncMode.FULL, *[SyncMode.INCREMENTAL] * 8]

        async with registry.resources.database.transaction() as session:
            (await MirrorRepository(session).get_state()).commit = None
        assert (await registry.sync()).mode is SyncMode.FULL
        assert await registry.everything() == stepwise
        assert (await registry.mirror.status()).counts == counts

    async def test_reads_only_what_changed(self, registries: Registries, upstream: Upstream) -> None:
        upstream.commit({"data/mntner/FOO-MNT": FOO, **routes(20)})
        registry = await registries.open(upstream)
        await registry.sync()
        upstream.commit(
            {"data/route/172.20.0.0_24": None, "data/route/172.20.1.0_24": route("172.20.1.0/24", "AS1")}
        )
        done = await registry.sync()
        assert (done.mode, done.removed, done.changed) == (SyncMode.INCREMENTAL, 1, 1)

    async def test_a_reference_dangles_until_its_object_comes_and_after_it_goes(
        self, registries: Registries, upstream: Upstream
    ) -> None:
        upstream.commit(routes(1))
        registry = await registries.open(upstream)
        await registry.sync()
        assert await registry.problems() == [("data/route/172.20.0.0_24", "dangling_reference", 3)]
        upstream.commit({"data/mntner/foo-mnt": FOO.replace(b"FOO-MNT", b"foo-mnt", 1)})
        await registry.sync()
        assert await registry.problems() == []
        upstream.commit({"data/mntner/foo-mnt": None})
        await registry.sync()
        assert await registry.problems() == [("data/route/172.20.0.0_24", "dangling_reference", 3)]

    async def test_a_push_by_force_is_followed(self, registries: Registries, tmp_path: Path) -> None:
        directory = tmp_path / "sample"
        generate(SamplePlan(objects=150, commits=12), directory)
        registry = await registries.open(Upstream(directory))
        await registry.sync()
        manifest = generate(SamplePlan(objects=150, commits=12, force_push=True), directory)
        done = await registry.sync()
        assert (done.mode, done.to_commit) == (SyncMode.FULL, manifest.head)
        status = await registry.mirror.status()
        assert (status.counts.objects, status.counts.routes) == (manifest.objects, manifest.routes)

    async def test_nothing_new_moves_only_the_time_of_the_check(
        self, registries: Registries, upstream: Upstream
    ) -> None:
        upstream.commit({"data/mntner/FOO-MNT": FOO})
        registry = await registries.open(upstream)
        await registry.sync()
        before = await registry.mirror.status()
        registry.clock.advance(registry.resources.settings.mirror.interval)
        assert (await registry.sync()).outcome is SyncOutcome.UNCHANGED
        after = await registry.mirror.status()
        assert after.checked_at == registry.clock()
        assert after.model_copy(update={"checked_at": before.checked_at}) == before


class TestBadObjects:
    async def test_one_bad_object_stops_nothing_and_keeps_its_text(
        self, registries: Registries, upstream: Upstream
    ) -> None:
        broken = b"<<<<<<< HEAD\n" + route("172.20.9.0/24")
        nul = b"route: 172.20.8.0/24\n\x00\n"
        upstream.commit(
            {
                "data/mntner/FOO-MNT": FOO,
                **routes(3),
                "data/route/172.20.9.0_24": broken,
                "data/route/172.20.8.0_24": nul,
            }
        )
        registry = await registries.open(upstream)
        await registry.sync()
        raws = await registry.raws()
        assert (raws["data/route/172.20.9.0_24"], raws["data/route/172.20.8.0_24"]) == (broken, nul)
        assert (await registry.mirror.status()).counts.routes == {"route": 3}
        assert await registry.problems() == [
            ("data/route/172.20.8.0_24", "nul_byte", 2),
            ("data/route/172.20.9.0_24", "merge_marker", 1),
        ]

    async def test_a_good_object_that_turns_bad_leaves_the_routes(
        self, registries: Registries, upstream: Upstream
    ) -> None:
        upstream.commit({"data/mntner/FOO-MNT": FOO, **routes(2)})
        registry = await registries.open(upstream)
        await registry.sync()
        upstream.commit({"data/route/172.20.0.0_24": b"\x00"})
        await registry.sync()
        assert (await registry.mirror.status()).counts.routes == {"route": 1}
        assert (await registry.raws())["data/route/172.20.0.0_24"] == b"\x00"

    async def test_hostile_files_are_reported_and_harm_nothing(
        self, registries: Registries, upstream: Upstream
    ) -> None:
        hostile: dict[str | bytes, bytes | Special | None] = {
            "data/person/LINK-DN42": Special("120000", b"/etc/passwd"),
            "data/person/NESTED-DN42": Special("160000"),
            "data/person/HUGE-DN42": b"remarks: x\n" * 1000,
            "data/mntner/RUN-MNT": Special("100755", FOO.replace(b"FOO-MNT", b"RUN-MNT", 1)),
            b"data/person/\xff\xfe": b"\xff\xfe",
            b"data/person/a\nb": b"person: x\n",
            b'data/person/"quoted"': b"person: x\n",
            "data/person/" + "x" * 900: b"person: x\n",
            b"data/" + b"\xff" * 240 + b"/" + b"\xff" * 240: b"x",
            "data/person/'; DROP TABLE objects; --": b"person: x\n",
            "data/as-set/AS-LONG": b"as-set: AS-LONG\nmembers: " + b"A" * 9000 + b"\n" + END.encode(),
        }
        upstream.commit({"data/mntner/FOO-MNT": FOO, **hostile})
        registry = await registries.open(upstream, file_bytes=10_000)
        await registry.sync()
        codes = {code for _, code, _ in await registry.problems()}
        assert codes >= {
            "not_a_file",
            "file_too_large",
            "executable",
            "invalid_utf8",
            "odd_name",
            "path_too_long",
            "unknown_class",
            "key_mismatch",
            "invalid_reference",
        }
        raws = await registry.raws()
        assert "data/person/LINK-DN42" not in raws
        assert raws["data/mntner/FOO-MNT"] == FOO
        upstream.commit(dict.fromkeys(hostile))
        await registry.sync()
        assert await registry.problems() == []
        assert list(await registry.raws()) == ["data/mntner/FOO-MNT"]


@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
class TestGuard:
    async def test_holds_what_would_drop_too_much_until_it_is_forced(
        self, registries: Registries, upstream: Upstream
    ) -> None:
        upstream.commit({"data/mntner/FOO-MNT": FOO, **routes(100)})
        registry = await registries.open(upstream)
        applied = await registry.sync()
        emptied = upstream.commit(dict.fromkeys(routes(60)))
        for _ in range(2):
            with pytest.raises(SyncHeld, match="drops 60 of 101 objects"):
                await registry.sync()
        status = await registry.mirror.status()
        assert (status.commit, status.counts.routes) == (applied.to_commit, {"route": 100})
        held = status.syncs[0]
        assert (held.outcome, held.to_commit, held.repeats) == (SyncOutcome.HELD, emptied, 2)
        assert (await registry.sync(force=True)).to_commit == emptied
        assert (await registry.mirror.status()).counts.routes == {"route": 40}

    async def test_goes_on_by_itself_when_upstream_is_repaired(
        self, registries: Registries, upstream: Upstream
    ) -> None:
        upstream.commit({"data/mntner/FOO-MNT": FOO, **routes(100)})
        registry = await registries.open(upstream)
        await registry.sync()
        upstream.commit(dict.fromkeys(routes(60)))
        with pytest.raises(SyncHeld):
            await registry.sync()
        upstream.commit(routes(100))
        assert (await registry.sync()).outcome is SyncOutcome.APPLIED

    async def test_does_not_start_with_nothing(self, registries: Registries, upstream: Upstream) -> None:
        upstream.commit({"README.md": b"soon"})
        registry = await registries.open(upstream)
        with pytest.raises(SyncHeld, match="no objects at all"):
            await registry.sync()


@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
class TestUpstream:
    async def test_an_absent_upstream_leaves_the_last_good_state(
        self, registries: Registries, upstream: Upstream, tmp_path: Path
    ) -> None:
        upstream.commit({"data/mntner/FOO-MNT": FOO})
        registry = await registries.open(upstream)
        await registry.sync()
        upstream.directory.rename(tmp_path / "away")
        with pytest.raises(UpstreamUnavailable):
            await registry.sync()
        status = await registry.mirror.status()
        assert status.counts.objects == {"mntner": 1}
        assert (status.syncs[0].outcome, status.syncs[0].code) == (
            SyncOutcome.FAILED,
            "registry_upstream_unavailable",
        )

    async def test_the_schedule_goes_on_after_a_refusal(
        self, registries: Registries, upstream: Upstream
    ) -> None:
        registry = await registries.open(upstream)
        (loop,) = tasks.loops(registry.mirror)
        await loop.run_once()
        upstream.commit({"data/mntner/FOO-MNT": FOO})
        await loop.run_once()
        outcomes = [sync.outcome for sync in (await registry.mirror.status()).syncs]
        assert outcomes == [SyncOutcome.APPLIED, SyncOutcome.FAILED]

    async def test_a_damaged_copy_is_fetched_anew(self, registries: Registries, upstream: Upstream) -> None:
        upstream.commit({"data/mntner/FOO-MNT": FOO})
        registry = await registries.open(upstream)
        await registry.sync()
        objects = registry.resources.settings.repository_directory / "objects"
        for path in [path for path in objects.rglob("*") if path.is_file()]:
            path.chmod(0o600)
            path.write_bytes(b"")
        upstream.commit({"data/mntner/BAR-MNT": FOO.replace(b"FOO-MNT", b"BAR-MNT", 1)})
        with pytest.raises((RepositoryBroken, UpstreamUnavailable)):
            await registry.sync()
        assert (await registry.sync()).outcome is SyncOutcome.APPLIED
        assert (await registry.mirror.status()).counts.objects == {"mntner": 2}

    async def test_a_repository_of_its_own_is_no_condition(
        self, registries: Registries, upstream: Upstream
    ) -> None:
        """Another replica takes over with the same database and an empty disk."""
        upstream.commit({"data/mntner/FOO-MNT": FOO})
        first = await registries.open(upstream)
        await first.sync()
        upstream.commit({"data/mntner/BAR-MNT": FOO.replace(b"FOO-MNT", b"BAR-MNT", 1)})
        second = await registries.open(upstream)
        assert (await second.sync()).mode is SyncMode.INCREMENTAL
        assert (await first.sync()).outcome is SyncOutcome.UNCHANGED
