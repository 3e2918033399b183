"""What set-up prepares is what would be made without it."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from shared.web import prepared as place
from shared.web.packing import _wanted
from shared.web.prepared import prepared, prepared_name
from shared.web.script_messages import collect_script_messages, listed_messages, script_sources
from shared.web.translation import catalogue_path, load_languages


@pytest.fixture
def empty(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(place, "PREPARED_ROOT", tmp_path)
    return tmp_path


def test_what_is_there_is_taken_and_only_for_that_content(empty: Path) -> None:
    assert prepared(b"one", "x", lambda: b"made") == b"made"
    (empty / prepared_name(b"one", "x")).write_bytes(b"kept")
    assert prepared(b"one", "x", lambda: b"made") == b"kept"
    assert prepared(b"two", "x", lambda: b"made") == b"made"
    assert prepared(b"one", "y", lambda: b"made") == b"made"


def test_without_anything_prepared_the_languages_and_messages_are_the_same(empty: Path) -> None:
    assert not list(empty.iterdir())
    unprepared = json.loads(listed_messages(script_sources()))
    prepared_before = {tag: each.text("Sign in") for tag, each in load_languages().items()}
    load_languages.cache_clear()
    collect_script_messages.cache_clear()
    assert {tag: each.text("Sign in") for tag, each in load_languages().items()} == prepared_before
    assert prepared_before["zh-Hans"] != "Sign in"
    assert [list(m) if isinstance(m, tuple) else m for m in collect_script_messages()] == unprepared


def test_everything_a_start_reads_is_among_what_is_prepared() -> None:
    made = dict(_wanted())
    sources = script_sources()
    assert made[prepared_name(b"\0".join(sources), "json")] == listed_messages(sources)
    assert prepared_name(catalogue_path("zh_Hans").read_bytes(), "mo") in made
    packed = [(name, content) for name, content in made.items() if name.endswith(".gz")]
    assert packed
    assert all(gzip.decompress(content) for _, content in packed)
