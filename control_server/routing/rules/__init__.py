"""Decisions about routes: what a report means, and where a prefix stands among others."""

from control_server.routing.rules.places import as_number, covering, highest_of, network_of, place_of, span
from control_server.routing.rules.reports import (
    NO_REASON,
    REASONS,
    best_change,
    best_of,
    cause,
    instant,
    name_of,
    verdict,
)

__all__ = [
    "NO_REASON",
    "REASONS",
    "as_number",
    "best_change",
    "best_of",
    "cause",
    "covering",
    "highest_of",
    "instant",
    "name_of",
    "network_of",
    "place_of",
    "span",
    "verdict",
]
