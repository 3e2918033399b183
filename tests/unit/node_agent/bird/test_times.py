"""`since` in all its forms, and when two of them can be one instant."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from node_agent.bird.times import Since, take_since

NOW = datetime(2026, 2, 3, 12, 0, tzinfo=UTC)


def since(text: str, now: datetime = NOW) -> Since:
    found, rest = take_since([*text.split(), "Established"], now)
    assert rest == ["Established"]
    return found


@pytest.mark.parametrize(
    ("text", "instant"),
    [
        ("2026-02-03 04:05:06", datetime(2026, 2, 3, 4, 5, 6, tzinfo=UTC)),
        ("2026-02-03 04:05:06.000007", datetime(2026, 2, 3, 4, 5, 6, 7, tzinfo=UTC)),
        ("07:10:02.118", datetime(2026, 2, 3, 7, 10, 2, 118_000, tzinfo=UTC)),
        ("23:10:02", datetime(2026, 2, 2, 23, 10, 2, tzinfo=UTC)),
        ("12:00:02", datetime(2026, 2, 3, 12, 0, 2, tzinfo=UTC)),
        ("1770091445", datetime(2026, 2, 3, 4, 4, 5, tzinfo=UTC)),
        ("24:61:00", None),
        ("yesterday", None),
    ],
)
def test_every_form_is_read(text: str, instant: datetime | None) -> None:
    assert since(text).instant == instant
    assert since(text).text == text


def test_a_bare_date_is_known_to_the_day() -> None:
    assert since("2026-02-02").precision == timedelta(days=1)


def test_the_same_instant_bears_drift_and_a_step_of_the_clock() -> None:
    first = since("2026-02-03 04:05:06.000001")
    assert first.same_as(since("2026-02-03 04:05:06.000071"))
    assert first.same_as(since("2026-02-03 04:05:08"))
    assert not first.same_as(since("2026-02-03 04:06:06"))


def test_a_text_that_turned_into_a_date_is_still_the_same() -> None:
    assert since("04:05:06").same_as(since("2026-02-03"))
    assert not since("04:05:06").same_as(since("2026-01-30"))


def test_forms_of_others_are_compared_as_texts() -> None:
    assert since("yesterday").same_as(since("yesterday"))
    assert not since("yesterday").same_as(since("today"))


def test_nothing_left_is_no_instant() -> None:
    assert take_since([], NOW) == (Since(""), [])
