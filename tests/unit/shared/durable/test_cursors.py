"""What the distance between two event ids says."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from shared.durable import EventPage, IdentifierRefusedError, LoopEvent, StoredEvent
from shared.durable.cursors import empty_page, page_of, split_id


def stored(*ids: str) -> tuple[StoredEvent, ...]:
    return tuple(
        StoredEvent(event_id, LoopEvent("run", "k", datetime(2026, 1, 1, tzinfo=UTC))) for event_id in ids
    )


class TestSplitId:
    @pytest.mark.parametrize("cursor", ["", "-", "(0-1", "0-1 ", "latest", "0", "0-x", "0-1\n", "²-1"])
    def test_refuses_what_is_no_cursor(self, cursor: str) -> None:
        with pytest.raises(IdentifierRefusedError):
            split_id(cursor)


class TestPageOf:
    @pytest.mark.parametrize(
        ("after", "first", "gap"), [(None, "0-1", 0), (None, "0-4", 3), ("0-3", "0-4", 0), ("0-3", "0-9", 5)]
    )
    def test_counts_what_was_trimmed(self, after: str | None, first: str, gap: int) -> None:
        assert page_of(stored(first), after).gap == gap

    def test_an_older_stream_of_times_tells_no_gap(self) -> None:
        page = page_of(stored("1700000000000-0", "1700000000001-0"), "1690000000000-4")
        assert (page.gap, page.cursor) == (0, "1700000000001-0")

    def test_a_number_against_a_stream_of_times_is_a_reset(self) -> None:
        assert page_of(stored("1700000000000-0"), "0-4") == EventPage((), cursor=None, reset=True)


class TestEmptyPage:
    @pytest.mark.parametrize(
        ("after", "tail", "page"),
        [
            (None, None, EventPage((), cursor=None)),
            ("0-4", "0-4", EventPage((), cursor="0-4")),
            ("0-4", "0-9", EventPage((), cursor="0-9", gap=5)),
            (None, "0-9", EventPage((), cursor="0-9", gap=9)),
            ("0-4", "0-3", EventPage((), cursor=None, reset=True)),
            ("0-4", None, EventPage((), cursor=None, reset=True)),
        ],
    )
    def test_says_what_happened(self, after: str | None, tail: str | None, page: EventPage) -> None:
        assert empty_page(after, tail) == page
