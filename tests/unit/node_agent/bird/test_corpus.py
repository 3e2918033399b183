"""Each sample is what BIRD printed, or a newer one would print, and beside it what is read from it."""

from __future__ import annotations

import json

import pytest

from tests.unit.node_agent.bird.reading import CORPUS, reading_of

SAMPLES = sorted(path.stem for path in CORPUS.glob("*.txt"))


@pytest.mark.parametrize("name", SAMPLES)
def test_reads_the_sample(name: str) -> None:
    assert reading_of(name) == json.loads((CORPUS / f"{name}.json").read_text())


def test_the_corpus_is_whole() -> None:
    assert len(SAMPLES) >= 25
    assert {path.stem for path in CORPUS.glob("*.json")} == set(SAMPLES)
