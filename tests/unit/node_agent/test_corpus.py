"""Each file of the corpus is a tool's output, and beside it what the parser makes of it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from node_agent.probes.summaries.mtr import parse_mtr
from node_agent.probes.summaries.ping import parse_ping
from node_agent.probes.summaries.traceroute import parse_traceroute

CORPUS = Path(__file__).parent / "corpus"
SAMPLES = sorted(path.stem for path in CORPUS.glob("*.txt"))


def parsed(name: str) -> object:
    lines = (CORPUS / f"{name}.txt").read_text().splitlines()
    tool = name.partition("-")[0]
    if tool == "mtr":
        target = "2001:db8:3::2" if "ipv6" in name else "203.0.113.2"
        return parse_mtr(lines, target, complete="cut" not in name)
    return parse_ping(lines) if tool == "ping" else parse_traceroute(lines)


@pytest.mark.parametrize("name", SAMPLES)
def test_reads_the_sample(name: str) -> None:
    assert parsed(name) == json.loads((CORPUS / f"{name}.json").read_text())


def test_the_corpus_is_whole() -> None:
    assert len(SAMPLES) >= 25
    assert {path.stem for path in CORPUS.glob("*.json")} == set(SAMPLES)
