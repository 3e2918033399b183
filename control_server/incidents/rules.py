"""When something that is wrong becomes an incident, and when it is over."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from control_server.incidents.schemas import IncidentKind


@dataclass(frozen=True, slots=True)
class Patience:
    """How long something is wrong before it is an incident, and well before the incident is over."""

    before_opening: timedelta
    before_closing: timedelta


_USUAL = Patience(timedelta(minutes=2), timedelta(minutes=2))
_PATIENCE = {
    # An apply ends within a minute, and the next look is the proof.
    IncidentKind.DRIFT: Patience(timedelta(minutes=10), timedelta(minutes=1)),
    IncidentKind.APPLY_FAILED: Patience(timedelta(0), timedelta(0)),
    IncidentKind.MONITORING_DEGRADED: Patience(timedelta(0), timedelta(minutes=1)),
    IncidentKind.TUNNEL_SILENT: Patience(timedelta(minutes=5), timedelta(minutes=2)),
}
#: These open and close by their scores, which have a hysteresis of their own.
SCORED = frozenset({IncidentKind.SESSION_FLAPPING, IncidentKind.PREFIX_FLAPPING, IncidentKind.NODE_FLAPPING})


class Step(StrEnum):
    """What to do with an open incident that nothing speaks for any more."""

    WAIT = "wait"
    CLOSE = "close"


def patience_of(kind: IncidentKind) -> Patience:
    """How patient one is with this kind."""
    return _PATIENCE.get(kind, _USUAL)


def counts_as_incident(kind: IncidentKind, since: datetime, now: datetime) -> bool:
    """Whether it has been wrong for long enough."""
    return now - since >= patience_of(kind).before_opening


def step_of(kind: IncidentKind, clear_since: datetime, now: datetime) -> Step:
    """Whether it has been well for long enough."""
    return Step.CLOSE if now - clear_since >= patience_of(kind).before_closing else Step.WAIT
