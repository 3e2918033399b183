"""Numbers, sizes and times as people read them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from shared.web.formats import Formats, exact
from shared.web.translation import load_languages

NOON = datetime(2026, 5, 12, 12, 0, tzinfo=UTC)
LANGUAGES = load_languages()
ENGLISH = Formats(LANGUAGES["en"], lambda: NOON)
CHINESE = Formats(LANGUAGES["zh-Hans"], lambda: NOON)


def text_of(element: str) -> str:
    return str(element).split(">", 1)[1].removesuffix("</time>")


class TestNumbers:
    def test_use_the_separators_of_the_language(self) -> None:
        assert ENGLISH.number(2011) == "2,011"
        assert ENGLISH.number(0.5, 2) == "0.50"

    def test_carry_their_units(self) -> None:
        assert ENGLISH.milliseconds(34.42) == "34.4 ms"
        assert ENGLISH.milliseconds(0.028) == "0.03 ms"
        assert ENGLISH.milliseconds(1234.5) == "1,234 ms"
        assert ENGLISH.size(1181116006) == "1.10 GiB"
        assert ENGLISH.size(12) == "12 B"
        assert ENGLISH.bitrate(1_760_000_000) == "1.76 Gbit/s"
        assert ENGLISH.bitrate(92_000) == "92.0 kbit/s"
        assert ENGLISH.percent(0.923, 1) == "92.3%"

    def test_missing_is_an_en_dash(self) -> None:
        absent = (ENGLISH.number, ENGLISH.percent, ENGLISH.milliseconds, ENGLISH.size, ENGLISH.bitrate)
        assert {show(None) for show in absent} == {"–"}
        assert {ENGLISH.duration(None), ENGLISH.age(None), ENGLISH.instant(None), exact(None)} == {"–"}


class TestDuration:
    @pytest.mark.parametrize(
        ("seconds", "english", "chinese"),
        [
            (0.42, "0.4 s", "0.4 秒"),
            (8, "8 s", "8 秒"),
            (38 * 60, "38 min", "38 分钟"),
            (82 * 60, "1 h 22 min", "1 小时 22 分"),
            (7200, "2 h", "2 小时"),
            (61 * 86400, "61 d", "61 天"),
        ],
    )
    def test_shows_the_two_largest_units(self, seconds: float, english: str, chinese: str) -> None:
        assert ENGLISH.duration(timedelta(seconds=seconds)) == english
        assert CHINESE.duration(seconds) == chinese


class TestInstants:
    def test_are_relative_with_the_exact_instant_on_hover(self) -> None:
        element = ENGLISH.ago(NOON - timedelta(minutes=38))
        assert str(element) == (
            '<time datetime="2026-05-12T11:22:00Z" title="2026-05-12 11:22:00 UTC" data-relative="ago">'
            "38 min ago</time>"
        )

    def test_speak_of_the_future_too(self) -> None:
        assert text_of(ENGLISH.ago(NOON + timedelta(minutes=5))) == "in 5 min"
        assert text_of(CHINESE.ago(NOON + timedelta(minutes=5))) == "5 分钟后"

    def test_become_a_date_when_they_are_old(self) -> None:
        assert text_of(ENGLISH.age(NOON - timedelta(days=400))) == "7 Apr 2025"
        assert text_of(CHINESE.age(NOON - timedelta(days=400))) == "2025年4月7日"

    def test_of_today_show_the_time_of_day(self) -> None:
        assert text_of(ENGLISH.instant(NOON - timedelta(hours=1))) == "11:00:00"
        assert text_of(ENGLISH.instant(NOON - timedelta(days=1))) == "11 May 2026 12:00"
