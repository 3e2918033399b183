"""The page of benchmarks holds each of them once, as it was measured last."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.benchmarks import page


@pytest.fixture
def written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(page, "PAGE", tmp_path / "benchmarks.md")
    return page.PAGE


def test_a_part_is_replaced_and_the_others_stay(written: Path) -> None:
    page.record("start", "second start: 9 s")
    page.record("fleet", "10 peerings: 3.0 x\n\n")
    first = page.recorded()
    page.record("start", "second start: 2 s")
    text = written.read_text(encoding="utf-8")
    assert page.recorded()["fleet"] == first["fleet"]
    assert (text.count("## `start`"), text.count("9 s"), text.count("2 s\n")) == (1, 0, 1)
    assert text.index("## `fleet`") < text.index("## `start`")
    assert "python -m" not in text
    assert "Goal: ready within three seconds" in text


def test_recording_the_same_again_changes_nothing(written: Path) -> None:
    page.record("start", "x")
    before = written.read_text(encoding="utf-8")
    page.record("start", "x")
    assert written.read_text(encoding="utf-8") == before


def test_every_part_of_the_page_is_a_benchmark_that_exists() -> None:
    names = {path.stem.removeprefix("bench_") for path in Path(page.__file__).parent.glob("bench_*.py")}
    assert set(page.recorded()) <= names
