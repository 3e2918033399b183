"""A score over time, for people: the charges that made it, and its future if nothing more happens."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from control_server.flaps.rules.score import FLAPPING, FORGOTTEN, HALF_LIFE, Score
from control_server.flaps.schemas import CurvePoint, EventKind, TransitionRead

_POINTS = 24


def past_of(history: Sequence[TransitionRead], begin: datetime, now: datetime) -> list[CurvePoint]:
    """The curve between two instants; each charge is a step. `history` is in order of time."""
    points: list[CurvePoint] = []
    score = Score(0.0, begin.timestamp())
    for event in (event for event in history if event.weight):
        if event.at < begin:
            score = Score(event.after, event.at.timestamp())
            continue
        points += _falling(score, max(score.at, begin.timestamp()), event.at.timestamp())
        score = Score(event.after, event.at.timestamp())
        points.append(_point(score, score.at))
    return [*points, *_falling(score, max(score.at, begin.timestamp()), now.timestamp())]


def instants(now: datetime, span: timedelta, step: timedelta) -> list[datetime]:
    """Instants around now, as far back as ahead, with now among them."""
    count = span // step
    return [now + step * number for number in range(-count, count + 1)]


def values_at(
    charges: Sequence[TransitionRead], current: float, at: Sequence[datetime], now: datetime
) -> list[float | None]:
    """The score at each instant. `charges` are in order of time; what the score is now is known better."""
    present = Score(current, now.timestamp())
    return [
        round((present if instant >= now else _last(charges, instant)).now(instant.timestamp()), 1)
        for instant in at
    ]


def _last(charges: Sequence[TransitionRead], instant: datetime) -> Score:
    before = [event for event in charges if event.at <= instant]
    return Score(before[-1].after, before[-1].at.timestamp()) if before else Score()


def future_of(score: Score, now: datetime, span: timedelta) -> list[CurvePoint]:
    """The curve from now on."""
    begin = now.timestamp()
    return _falling(score, begin, begin + span.total_seconds())


def reached_at(history: Sequence[TransitionRead]) -> datetime | None:
    """When the score last came to the flapping level."""
    crossed = [event.at for event in history if event.weight and event.before < FLAPPING <= event.after]
    return crossed[-1] if crossed else None


def charged(history: Sequence[TransitionRead]) -> list[TransitionRead]:
    """Those that weighed something."""
    return [event for event in history if event.weight and event.event is not EventKind.LEVEL]


def current_run(history: Sequence[TransitionRead]) -> list[TransitionRead]:
    """The end of the history: what came since the score last had been next to nothing."""
    starts = [index for index, event in enumerate(history) if event.weight and event.before < FORGOTTEN]
    return list(history[starts[-1] :]) if starts else list(history)


def forgotten_after(value: float) -> timedelta:
    """How long until nothing is left of a score."""
    score, step = value, timedelta()
    while score >= FORGOTTEN:
        score, step = score / 2, step + timedelta(seconds=HALF_LIFE)
    return step


def _falling(score: Score, begin: float, end: float) -> list[CurvePoint]:
    if end <= begin:
        return [_point(score, begin)]
    step = (end - begin) / _POINTS
    return [_point(score, begin + step * number) for number in range(_POINTS + 1)]


def _point(score: Score, at: float) -> CurvePoint:
    return CurvePoint(at=datetime.fromtimestamp(at, UTC), score=round(score.now(at), 1))
