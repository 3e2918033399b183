"""The same questions about the same objects as IRRd was asked: the same answers, but for their order."""

from __future__ import annotations

import re
from functools import cache
from typing import cast

import pytest

from registry_server.snapshot.service import SnapshotKeeper
from registry_server.whois.schemas import WhoisSettings
from registry_server.whois.service import WhoisService
from tests.integration.registry.upstream import Content
from tests.oracles.questions import recorded
from tests.unit.registry_server.snapshots import snapshot_of

RECORDING = recorded()
#: Each differs on purpose.
ON_PURPOSE = {
    # IRRd tells where its own journal stands, and lists no source that is empty of one.
    "!j-*",
}


class Kept:
    def __init__(self) -> None:
        loaded: dict[str | bytes, Content] = {}
        loaded.update(RECORDING.objects.items())
        self.current = snapshot_of(loaded)


@cache
def service() -> WhoisService:
    return WhoisService(cast("SnapshotKeeper", Kept()), WhoisSettings(range_limit=1 << 130))


def ours(question: str) -> str:
    answer = service().answer(service().begin(), question.encode())
    assert answer is not None
    return answer.decode()


def normal(answer: str) -> tuple[str, list[str]]:
    """The kind of the answer, and what is in it in an order of its own."""
    kind = answer[:1]
    if kind == "A":
        payload = answer.split("\n", 1)[1].removesuffix("\nC\n")
        return kind, sorted(_parts(payload))
    if kind in {"C", "D", "F"} and "\n\n" not in answer:
        return kind, [answer]
    objects = [text for text in answer.strip("\n").split("\n\n") if not text.startswith("% Source")]
    return "RIPE", sorted(_object(text) for text in objects)


def _parts(payload: str) -> list[str]:
    if ":  " in payload or "\n" in payload:
        return [_object(text) for text in payload.split("\n\n")]
    return payload.split()


def _object(text: str) -> str:
    """What the object says: IRRd writes it anew, in other columns and without marks of direction; ours is
    the text of the registry byte for byte."""
    text = re.sub("[\u202a-\u202e]", "", text)
    return "\n".join(re.sub(r"[ \t]+", " ", line).rstrip().replace(": ", ":", 1) for line in text.split("\n"))


def test_the_recording_has_every_kind_of_question() -> None:
    asked = {question[:2] for question in RECORDING.answers if question.startswith("!")}
    assert {"!g", "!6", "!i", "!a", "!r", "!m", "!o", "!s", "!j", "!t", "!n", "!e"} <= asked
    assert sum(answer.startswith("A") for answer in RECORDING.answers.values()) > 100


@pytest.mark.parametrize("question", sorted(set(RECORDING.answers) - ON_PURPOSE))
def test_the_answer_is_that_of_irrd(question: str) -> None:
    assert normal(ours(question)) == normal(RECORDING.answers[question])
