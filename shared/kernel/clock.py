"""Time as an argument: whoever needs it is given a clock."""

from collections.abc import Callable
from datetime import UTC, datetime

#: Answers the current instant, always in UTC.
Clock = Callable[[], datetime]


def utc_now() -> datetime:
    """The wall clock in UTC; the only place in the product that reads it."""
    return datetime.now(UTC)
