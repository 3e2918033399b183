from collections.abc import Sequence

import pytest
from pydantic import ValidationError

from registry_server.mirror.rules import output
from registry_server.mirror.rules.guard import doubt, is_to_be_weighed, losses
from registry_server.mirror.schemas import MirrorSettings, RemoteTip, SyncMode, SyncPlan, TreeEntry, Weight
from registry_server.objects.schemas import IndexCounts

BLOB = "8ab686eafeb1f44702738c8b0f24f2567c36da6d"

CAREFUL = MirrorSettings(drop_share=0.2, drop_floor=25)


def plan(mode: SyncMode, touched: Sequence[bytes] = ()) -> SyncPlan:
    return SyncPlan(mode, base=None, version=0, branch="main", commit=BLOB, removed=[*touched], entries=[])


def counts(objects: int, routes: int = 0) -> IndexCounts:
    return IndexCounts(objects={"person": objects}, routes={"route": routes})


class TestDoubt:
    def test_believes_growth(self) -> None:
        assert doubt(counts(10), counts(1000), CAREFUL) is None

    def test_believes_a_small_loss(self) -> None:
        assert doubt(counts(1000), counts(801), CAREFUL) is None

    def test_doubts_a_large_loss_of_objects(self) -> None:
        assert doubt(counts(1000), counts(799), CAREFUL) == "the new state drops 201 of 1000 objects"

    def test_doubts_a_large_loss_of_routes_alone(self) -> None:
        assert doubt(counts(1000, 100), counts(1000, 60), CAREFUL) == "the new state drops 40 of 100 routes"

    def test_does_not_count_the_few_objects_of_a_small_registry(self) -> None:
        assert doubt(counts(30), counts(10), CAREFUL) is None

    def test_doubts_emptiness_also_at_the_start(self) -> None:
        assert doubt(IndexCounts(), IndexCounts(), CAREFUL) == "the new state holds no objects at all"

    def test_says_all_that_is_lost(self) -> None:
        before = Weight({"mntner": 30, "person": 400}, {"IPv4 ROAs": frozenset(range(40))})
        after = Weight({"person": 390}, {"IPv4 ROAs": frozenset(range(10, 50))})
        lost = [*losses(before, after)]
        assert [each.lost for each in lost] == [30, 10, 10]
        said = "the new state drops 40 of 100 routes, 30 of 30 sound mntner objects"
        assert doubt(counts(1000, 100), counts(1000, 60), CAREFUL, lost) == said


class TestWeighing:
    BEFORE = IndexCounts(objects={"mntner": 100, "route": 1000, "domain": 10}, routes={"route": 1000})

    @pytest.mark.parametrize(
        ("touched", "weighed"),
        [
            ([b"data/filter6.txt"], True),
            ([b"data/mntner/%d-MNT" % number for number in range(26)], True),
            ([b"data/mntner/%d-MNT" % number for number in range(25)], False),
            ([b"data/route/10.0.%d.0_24" % number for number in range(100)], False),
            ([b"data/route/10.0.%d.0_24" % number for number in range(101)], True),
            ([b"data/dns/%d.dn42" % number for number in range(26)], True),
            ([b"data/odd"], False),
        ],
    )
    def test_is_for_what_can_lose_much(self, touched: list[bytes], weighed: bool) -> None:
        assert is_to_be_weighed(plan(SyncMode.INCREMENTAL, touched), self.BEFORE, CAREFUL) is weighed

    def test_is_always_for_another_history_and_never_for_the_first_sync(self) -> None:
        assert is_to_be_weighed(plan(SyncMode.FULL), self.BEFORE, CAREFUL)
        assert not is_to_be_weighed(plan(SyncMode.FULL, [b"data/filter.txt"]), IndexCounts(), CAREFUL)


class TestOutput:
    def test_reads_a_tree_with_any_bytes_in_a_path(self) -> None:
        printed = (
            f"100644 blob {BLOB}\t".encode() + b"data/a\tb\n\xff\0" + f"160000 commit {BLOB}\tm\0".encode()
        )
        assert output.parse_tree(printed) == [
            TreeEntry(b"data/a\tb\n\xff", "100644", BLOB),
            TreeEntry(b"m", "160000", BLOB),
        ]

    def test_reads_a_difference(self) -> None:
        zero = "0" * 40
        printed = (
            f":100644 000000 {BLOB} {zero} D\0data/x\0:100644 100755 {BLOB} {BLOB} M\0data/:y\0".encode()
        )
        removed, changed = output.parse_difference(printed)
        assert removed == [b"data/x"]
        assert changed == [TreeEntry(b"data/:y", "100755", BLOB)]

    @pytest.mark.parametrize("length", [1, 2, 7, 1000])
    def test_reads_blobs_of_any_bytes_in_pieces_of_any_length(self, length: int) -> None:
        printed = (
            f"{BLOB} blob 5\n".encode()
            + b"a\n\0b\n\n"
            + f"{BLOB} blob 0\n\n{BLOB} missing\n".encode()
            + f"{BLOB} blob 9\n".encode()
            + b"too\nlarge\n"
            + f"{BLOB} blob 1\nx\n".encode()
        )
        reader = output.BlobReader(8)
        pieces = [printed[start : start + length] for start in range(0, len(printed), length)]
        found = [blob for piece in pieces for blob in reader.feed(piece)]
        assert found == [
            (5, b"a\n\0b\n"),
            (0, b""),
            (None, None),
            (9, None),
            (1, b"x"),
        ]

    def test_follows_the_branch_that_upstream_calls_head(self) -> None:
        printed = f"ref: refs/heads/trunk\tHEAD\n{BLOB}\tHEAD\n{BLOB}\trefs/heads/trunk\n".encode()
        assert output.parse_remote(printed, None) == RemoteTip("trunk", BLOB)

    def test_finds_no_tip_in_an_empty_repository(self) -> None:
        assert output.parse_remote(b"", None) is None

    def test_shows_no_credentials(self) -> None:
        text = "fatal: unable to access 'https://foo:secret@git.example/x.git/'"
        assert output.redact(text) == "fatal: unable to access 'https://***@git.example/x.git/'"


class TestMirrorSettings:
    @pytest.mark.parametrize(
        "url",
        [
            "/srv/registry.git",
            "file:///srv/registry",
            "https://git.example/r.git",
            "ssh://git@git.example/r.git",
            "git@git.example:dn42/registry.git",
        ],
    )
    def test_takes_paths_and_safe_transports(self, url: str) -> None:
        assert MirrorSettings.model_validate({"url": url}).url is not None

    @pytest.mark.parametrize(
        "url",
        [
            "ext::sh -c id",
            "http://git.example/r.git",
            "git://git.example/r",
            "--upload-pack=id",
            "relative/path",
            "ssh://-oProxyCommand=id/x",
            "-oProxyCommand=id@git.example:x",
            "git@git.example:-x",
            "fd::7",
        ],
    )
    def test_refuses_what_could_run_a_command_or_be_tampered_with(self, url: str) -> None:
        with pytest.raises(ValidationError):
            MirrorSettings.model_validate({"url": url})

    def test_takes_an_empty_url_for_none(self) -> None:
        assert MirrorSettings.model_validate({"url": ""}).url is None

    def test_takes_an_empty_branch_for_none(self) -> None:
        assert MirrorSettings.model_validate({"branch": ""}).branch is None

    def test_refuses_a_branch_that_looks_like_an_option(self) -> None:
        with pytest.raises(ValidationError):
            MirrorSettings.model_validate({"branch": "--all"})
