"""How long to stay away after a link has ended. Pure: the dice are an argument."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

from shared.protocol.frames import CloseCode

_BASE_SECONDS = 1.0
_CAP_SECONDS = 60.0
#: A token that is refused will not get better by trying; a changed token file ends the wait.
_REFUSED_SECONDS = 3600.0
#: Two agents with one token would else throw each other out for ever.
_REPLACED_SECONDS = 120.0
#: A link that lasted this long was a good one.
STABLE_SECONDS = 10.0
_GREATEST_EXPONENT = 16


class Ending(StrEnum):
    """How a link ended."""

    LOST = "lost"
    REFUSED = "refused"
    REPLACED = "replaced"
    THROTTLED = "throttled"
    GOODBYE = "goodbye"


_ENDING_OF_CODE = {
    int(CloseCode.UNAUTHENTICATED): Ending.REFUSED,
    int(CloseCode.FORBIDDEN): Ending.REFUSED,
    int(CloseCode.REPLACED): Ending.REPLACED,
    int(CloseCode.THROTTLED): Ending.THROTTLED,
    int(CloseCode.PROTOCOL): Ending.THROTTLED,
    int(CloseCode.FRAME_TOO_LARGE): Ending.THROTTLED,
}


@dataclass(frozen=True, slots=True)
class Outcome:
    """What is known of a link that has ended."""

    ending: Ending
    detail: str = ""
    lasted_seconds: float = 0.0
    #: The server's own wish, from `goodbye` or `Retry-After`.
    retry_after_seconds: float | None = None


def ending_of_code(code: int | None) -> Ending:
    """What a close code means for coming back."""
    return _ENDING_OF_CODE.get(code or 0, Ending.LOST)


class Pauses:
    """Full-jitter exponential back-off, so a fleet that was cut at once does not return at once."""

    def __init__(self, uniform: Callable[[float, float], float]) -> None:
        self._uniform = uniform
        self._failures = 0

    def after(self, outcome: Outcome) -> float:
        """Seconds until the next attempt."""
        if outcome.lasted_seconds >= STABLE_SECONDS:
            self._failures = 0
        self._failures += 1
        if outcome.ending is Ending.REFUSED:
            return self._uniform(_REFUSED_SECONDS, 1.25 * _REFUSED_SECONDS)
        if outcome.ending is Ending.REPLACED:
            return self._uniform(_REPLACED_SECONDS, 2 * _REPLACED_SECONDS)
        ceiling = min(_CAP_SECONDS, _BASE_SECONDS * 2 ** min(self._failures - 1, _GREATEST_EXPONENT))
        if outcome.ending is Ending.THROTTLED:
            return self._uniform(_CAP_SECONDS / 2, _CAP_SECONDS)
        wish = min(outcome.retry_after_seconds or 0.0, _CAP_SECONDS)
        return self._uniform(wish, wish + ceiling) if wish else self._uniform(0.0, ceiling)
