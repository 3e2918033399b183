"""What templates of charts need: the points of a line without axes, and columns of a chart's table."""

from __future__ import annotations

from datetime import UTC
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    from jinja2 import Environment

#: Room for the stroke, so that it is not cut off at the edge.
_EDGE = 1.0


def install(environment: Environment) -> None:
    """Make the filters known to templates."""
    environment.filters["spark"] = spark
    environment.filters["as_number_column"] = as_number_column
    environment.filters["stamp"] = stamp


def spark(values: Sequence[float | None], top: float | None, width: int, height: int) -> list[str]:
    """Points of each unbroken piece of a line; a missing value breaks it, and zero is at the bottom."""
    known = [value for value in values if value is not None]
    highest = max(top or 0, max(known, default=0)) or 1
    step = (width - 2 * _EDGE) / max(len(values) - 1, 1)
    pieces: list[list[str]] = [[]]
    for index, value in enumerate(values):
        if value is None:
            pieces.append([])
            continue
        x = _EDGE + index * step
        y = height - _EDGE - (height - 2 * _EDGE) * max(value, 0) / highest
        pieces[-1].append(f"{x:.1f},{y:.1f}")
    return [" ".join(_as_line(piece)) for piece in pieces if piece]


def _as_line(points: list[str]) -> list[str]:
    """A point alone is drawn as a short line, because a line with one end shows nothing."""
    if len(points) > 1:
        return points
    x, _, y = points[0].partition(",")
    return [points[0], f"{float(x) + _EDGE:.1f},{y}"]


def as_number_column(label: str) -> Mapping[str, Any]:
    """A column of numbers under this label."""
    return {"label": label, "num": True}


def stamp(moment: datetime) -> str:
    """An instant as scripts read it."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
