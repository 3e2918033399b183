from collections import Counter
from pathlib import Path

import pytest

from registry_server.objects.rules.paths import place, show
from registry_server.objects.rules.reading import read_object
from registry_server.samples.errors import SampleDirectoryTaken
from registry_server.samples.rules.history import replay
from registry_server.samples.schemas import SamplePlan
from registry_server.samples.service import generate, imagine

_COUNTED = ("route", "route6", "aut-num", "mntner")


class TestGenerate:
    def test_gives_the_same_commit_for_the_same_seed(self, tmp_path: Path) -> None:
        one, two = (generate(SamplePlan(objects=100, commits=6), tmp_path / name) for name in ("a", "b"))
        assert one == two

    def test_gives_another_registry_for_another_seed(self, tmp_path: Path) -> None:
        one, two = (generate(SamplePlan(objects=100, commits=6, seed=n), tmp_path / str(n)) for n in (1, 2))
        assert one.head != two.head

    def test_writes_over_an_older_sample_and_over_nothing_else(self, tmp_path: Path) -> None:
        generate(SamplePlan(objects=100, commits=6), tmp_path / "sample")
        generate(SamplePlan(objects=100, commits=6, force_push=True), tmp_path / "sample")
        (tmp_path / "other").mkdir()
        (tmp_path / "other" / "thesis.txt").touch()
        with pytest.raises(SampleDirectoryTaken):
            generate(SamplePlan(objects=100, commits=6), tmp_path / "other")

    def test_starts_again_where_it_was_killed(self, tmp_path: Path) -> None:
        (tmp_path / ".sample.unfinished").mkdir()
        (tmp_path / ".sample.unfinished" / "HEAD").touch()
        generate(SamplePlan(objects=100, commits=6), tmp_path / "sample")
        assert [path.name for path in tmp_path.iterdir()] == ["sample"]


class TestImagine:
    @pytest.mark.parametrize("force_push", [False, True])
    def test_the_history_leads_to_the_tip(self, force_push: bool) -> None:
        files, commits = imagine(SamplePlan(objects=200, commits=40, force_push=force_push))
        assert replay(commits) == {file.path: file.raw for file in files}

    def test_no_two_files_share_a_path(self) -> None:
        files, _ = imagine(SamplePlan(objects=1000, commits=2))
        assert len({file.path for file in files}) == len(files)

    def test_the_readers_of_objects_find_exactly_what_was_planted(self) -> None:
        files, _ = imagine(SamplePlan(objects=1000, commits=2, seed=7))
        for file in files:
            where, problem = place(file.path)
            found = read_object(where, file.raw, (problem,) if problem else ()) if where else None
            problems = found.problems if found else (problem,) if problem else ()
            expected = [tuple(each) for each in file.problems if each.code != "dangling_reference"]
            assert [(each.code.value, each.line) for each in problems] == expected, show(file.path)
            assert len(found.routes if found else ()) == file.routes, show(file.path)

    def test_every_class_and_proportion_is_there(self) -> None:
        files, _ = imagine(SamplePlan(objects=2000, commits=2))
        by_class = Counter(file.object_class for file in files)
        assert 280 <= by_class["mntner"] <= 300
        assert 300 <= by_class["aut-num"] <= 310
        assert 220 <= by_class["inet6num"] <= 230
        assert len(by_class) == 16

    def test_attributes_stand_as_often_as_in_a_real_registry(self) -> None:
        files, _ = imagine(SamplePlan(objects=6000, commits=2))
        raw = {name: [each.raw for each in files if each.object_class == name] for name in _COUNTED}

        def share(names: tuple[str, ...], attribute: bytes, least: int) -> float:
            texts = [text for name in names for text in raw[name]]
            return sum(text.count(b"\n" + attribute) >= least for text in texts) / len(texts)

        assert 0.10 <= share(("route",), b"max-length:", 1) <= 0.14
        assert 0.40 <= share(("route6",), b"max-length:", 1) <= 0.48
        assert 0.018 <= share(("route", "route6"), b"origin:", 2) <= 0.028
        assert 0.005 <= share(("aut-num",), b"mnt-by:", 2) <= 0.015
        assert 0.33 <= 1 - share(("mntner",), b"auth:", 1) <= 0.41
        assert 0.003 <= sum(not each.raw.isascii() for each in files) / len(files) <= 0.01
        assert any(each.path.startswith(b"data/mntner/0") for each in files)
