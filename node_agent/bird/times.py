"""BIRD's `since`: a text of several forms, recomputed at every display and so compared with a tolerance."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime, timedelta

_DATE = re.compile(r"^\d{4}-\d{2}-\d{2}$")
_TIME = re.compile(r"^\d{2}:\d{2}:\d{2}(\.\d{1,6})?$")
_EPOCH = re.compile(r"^\d{9,11}(\.\d{1,6})?$")
#: A time of day that lies this little in the future is a clock that has just been read.
_SLACK = timedelta(seconds=5)
#: NTP steps the wall clock that BIRD adds its monotonic clock to.
_STEP = timedelta(seconds=5)
_DAY = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class Since:
    """An instant as far as it is known: None when the form is not ours."""

    text: str
    instant: datetime | None = None
    precision: timedelta = timedelta(0)

    def same_as(self, other: Since) -> bool:
        """Whether both can be the same instant."""
        if self.instant is None or other.instant is None:
            return self.text == other.text
        tolerance = max(self.precision, other.precision, _STEP)
        return abs(self.instant - other.instant) <= tolerance


def take_since(fields: list[str], now: datetime) -> tuple[Since, list[str]]:
    """The `since` at the beginning of the fields, and what follows. `now` is aware, in BIRD's own zone."""
    if not fields:
        return Since(""), []
    first, rest = fields[0], fields[1:]
    if _DATE.match(first):
        if rest and _TIME.match(rest[0]):
            text = f"{first} {rest[0]}"
            return Since(text, _parse(text, now)), rest[1:]
        return Since(first, _parse(f"{first} 00:00:00", now), _DAY), rest
    if _TIME.match(first):
        today = _parse(f"{now:%Y-%m-%d} {first}", now)
        if today is not None and today > now + _SLACK:
            today -= _DAY
        return Since(first, today), rest
    if _EPOCH.match(first):
        return Since(first, datetime.fromtimestamp(float(first), tz=now.tzinfo)), rest
    return Since(first), rest


def _parse(text: str, now: datetime) -> datetime | None:
    try:
        return datetime.fromisoformat(text).replace(tzinfo=now.tzinfo)
    except ValueError:
        return None
