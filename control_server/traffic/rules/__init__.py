"""Decisions about traffic: what two readings of a counter mean, and where charts have their points."""

from control_server.traffic.rules.grids import (
    COARSE,
    FINE,
    MAX_POINTS,
    Drawn,
    Plan,
    beginning,
    link,
    of_samples,
    plan,
    series,
    together,
)
from control_server.traffic.rules.rates import Counted, Difference, Why, added, difference, rate
from control_server.traffic.rules.samples import compared, is_repeated

__all__ = [
    "COARSE",
    "FINE",
    "MAX_POINTS",
    "Counted",
    "Difference",
    "Drawn",
    "Plan",
    "Why",
    "added",
    "beginning",
    "compared",
    "difference",
    "is_repeated",
    "link",
    "of_samples",
    "plan",
    "rate",
    "series",
    "together",
]
