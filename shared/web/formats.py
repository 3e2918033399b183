"""Numbers, sizes, rates, durations and instants as a person reads them, in one language."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from babel.dates import format_date
from babel.numbers import format_decimal, format_percent
from markupsafe import Markup, escape

from shared.web.translation import lazy as _

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from jinja2 import Environment

    from shared.kernel.clock import Clock
    from shared.web.translation import Language

MISSING = "–"
_MINUTE = 60
_HOUR = 3600
_DAY = 86400
#: Beyond this a date says more than a count of days.
_OLDEST_COUNTED_DAYS = 90
_BITS = ("bit/s", "kbit/s", "Mbit/s", "Gbit/s", "Tbit/s")
_BYTES = ("B", "KiB", "MiB", "GiB", "TiB")
_THREE_DIGITS = 100
_TWO_DIGITS = 10


@dataclass(frozen=True, slots=True)
class Formats:
    """The filters of one language. Missing values are an en dash everywhere."""

    language: Language
    now: Clock

    def install(self, environment: Environment) -> None:
        """Make every filter known to templates."""
        filters: dict[str, Callable[..., str]] = {
            "number": self.number,
            "percent": self.percent,
            "milliseconds": self.milliseconds,
            "size": self.size,
            "bitrate": self.bitrate,
            "measure": self.measure,
            "duration": self.duration,
            "age": self.age,
            "ago": self.ago,
            "instant": self.instant,
            "exact": exact,
        }
        environment.filters.update(filters)

    def number(self, value: float | None, digits: int = 0) -> str:
        """A number with the language's separators and so many decimals."""
        if value is None:
            return MISSING
        pattern = "#,##0" + ("." + "0" * digits if digits else "")
        return format_decimal(value, format=pattern, locale=self.language.locale)

    def percent(self, share: float | None, digits: int = 0) -> str:
        """A share of one as a percentage."""
        if share is None:
            return MISSING
        pattern = "#,##0" + ("." + "0" * digits if digits else "") + "%"
        return format_percent(share, format=pattern, locale=self.language.locale)

    def milliseconds(self, value: float | None) -> str:
        """A latency, given in milliseconds."""
        if value is None:
            return MISSING
        digits = 2 if value < 1 else 0 if value >= _THREE_DIGITS * 10 else 1
        return f"{self.number(value, digits)} ms"

    def size(self, value: float | None) -> str:
        """Bytes in binary units."""
        return MISSING if value is None else self._scaled(value, 1024, _BYTES)

    def bitrate(self, value: float | None) -> str:
        """Bits a second in decimal units."""
        return MISSING if value is None else self._scaled(value, 1000, _BITS)

    def measure(self, value: float | None, unit: str) -> str:
        """A value of a chart, in the unit that the chart is named for."""
        return self._measures[unit](value)

    @property
    def _measures(self) -> Mapping[str, Callable[[float | None], str]]:
        return {
            "bitrate": self.bitrate,
            "milliseconds": self.milliseconds,
            "number": self.number,
            "percent": self.percent,
            "size": self.size,
        }

    def _scaled(self, value: float, step: int, units: tuple[str, ...]) -> str:
        place = 0
        while abs(value) >= step and place < len(units) - 1:
            value /= step
            place += 1
        digits = 0 if place == 0 or abs(value) >= _THREE_DIGITS else 1 if abs(value) >= _TWO_DIGITS else 2
        return f"{self.number(value, digits)} {units[place]}"

    def duration(self, value: timedelta | float | None) -> str:
        """A length of time in its two largest units; below ten seconds with one decimal."""
        if value is None:
            return MISSING
        seconds = value.total_seconds() if isinstance(value, timedelta) else float(value)
        if 0 < seconds < _TWO_DIGITS and not seconds.is_integer():
            return self._units(_("%(n)s s"), self.number(seconds, 1))
        return self._length(round(seconds))

    def _length(self, seconds: int) -> str:
        seconds = max(0, seconds)
        if seconds < _MINUTE:
            return self._units(_("%(n)s s"), seconds)
        if seconds < _HOUR:
            return self._units(_("%(n)s min"), seconds // _MINUTE)
        if seconds < _DAY:
            hours, minutes = seconds // _HOUR, seconds % _HOUR // _MINUTE
            if minutes:
                return self.language.text(_("%(h)s h %(m)s min")) % {"h": hours, "m": minutes}
            return self._units(_("%(n)s h"), hours)
        return self._units(_("%(n)s d"), seconds // _DAY)

    def _units(self, message: str, value: object) -> str:
        return self.language.text(message) % {"n": value}

    def age(self, moment: datetime | None) -> str:
        """How long since (or until) an instant, exact on hover and kept current by the page."""
        return self._relative(moment, "age")

    def ago(self, moment: datetime | None) -> str:
        """The same in a sentence: "38 min ago"."""
        return self._relative(moment, "ago")

    def instant(self, moment: datetime | None) -> str:
        """The time of day of an instant of today, else its date and time, exact on hover. UTC."""
        if moment is None:
            return MISSING
        at = moment.astimezone(UTC)
        text = f"{at:%H:%M:%S}"
        if at.date() != self.now().astimezone(UTC).date():
            text = f"{format_date(at, format='medium', locale=self.language.locale)} {at:%H:%M}"
        return _time_element(at, text, "")

    def _relative(self, moment: datetime | None, style: str) -> str:
        if moment is None:
            return MISSING
        at = moment.astimezone(UTC)
        passed = (self.now().astimezone(UTC) - at).total_seconds()
        if abs(passed) >= _OLDEST_COUNTED_DAYS * _DAY:
            return _time_element(at, format_date(at, format="medium", locale=self.language.locale), "")
        text = self._length(int(abs(passed)))
        if style == "ago":
            sentence = _("%(age)s ago") if passed >= 0 else _("in %(age)s")
            text = self.language.text(sentence) % {"age": text}
        return _time_element(at, text, style)


def exact(moment: datetime | None) -> str:
    """An instant in full, in UTC, as on hover and in exports."""
    return MISSING if moment is None else f"{moment.astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC"


def _time_element(at: datetime, text: str, style: str) -> Markup:
    kept = Markup(' data-relative="{}"').format(style) if style else ""
    return Markup('<time datetime="{}" title="{}"{}>{}</time>').format(
        at.strftime("%Y-%m-%dT%H:%M:%SZ"), exact(at), kept, escape(text)
    )
