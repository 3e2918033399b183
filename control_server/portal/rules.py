"""What the pages derive from what the features say. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from control_server.health.schemas import FleetHealth, NodeHealth, PartName, SessionCounts, State
from control_server.portal.schemas import Cell, Configuration, Flow, Happened

_RATES = ("received", "sent", "previous_received", "previous_sent")
_PEAKS = ("received_peak", "sent_peak")

if TYPE_CHECKING:
    from collections.abc import Callable

    from control_server.flaps.schemas import TransitionRead
    from control_server.health.schemas import HealthChange
    from control_server.incidents.schemas import IncidentRead
    from control_server.traffic.schemas import PointsRead, SeriesRead


def configuration_of(nodes: Iterable[NodeHealth]) -> Configuration:
    """How many nodes run what they should. Those that have said nothing of it are not counted against it."""
    states = Counter(
        part.state for node in nodes for part in node.parts if part.part is PartName.CONFIGURATION
    )
    reporting = sum(count for state, count in states.items() if state is not State.UNKNOWN)
    others = {state.value: count for state, count in states.items() if state not in {State.OK, State.UNKNOWN}}
    return Configuration(in_sync=states[State.OK], reporting=reporting, others=others)


def cells_of(sessions: SessionCounts) -> list[Cell]:
    """One cell a session, the good ones first."""
    return [
        *[Cell.UP] * sessions.established,
        *[Cell.DOWN] * sessions.down,
        *[Cell.UNKNOWN] * sessions.unknown,
        *[Cell.MAINTENANCE] * sessions.disabled,
    ]


def instants(series: SeriesRead) -> list[datetime]:
    """Where the points of a series are."""
    step = timedelta(seconds=series.step_seconds)
    return [series.start + step * place for place in range(len(series.points.received))]


def coarser(series: SeriesRead, most: int) -> SeriesRead:
    """The series in at most so many points: each is the mean of what was measured of those that it covers."""
    points = series.points
    together = -(-len(points.received) // most) or 1
    if together == 1:
        return series
    merged = {name: _merged(getattr(points, name), together, _mean) for name in _RATES}
    merged |= {name: _merged(getattr(points, name), together, max) for name in _PEAKS}
    return series.model_copy(
        update={
            "step_seconds": series.step_seconds * together,
            "points": points.model_copy(update=merged),
        }
    )


def _merged(
    values: Sequence[float | None], together: int, as_one: Callable[[Sequence[float]], float]
) -> list[float | None]:
    groups = (values[at : at + together] for at in range(0, len(values), together))
    known = ([value for value in group if value is not None] for group in groups)
    return [as_one(measured) if measured else None for measured in known]


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)


def latest(points: PointsRead) -> Flow | None:
    """The newest point at which something was measured, beside the same point of the period before."""
    for place in range(len(points.received) - 1, -1, -1):
        received, sent = points.received[place], points.sent[place]
        if received is not None or sent is not None:
            return Flow(received, sent, _change(received, points.previous_received[place]))
    return None


def _change(now: float | None, before: float | None) -> float | None:
    return None if now is None or not before else now / before - 1


@dataclass(frozen=True, slots=True)
class Shown:
    """The first few of something, and how many there are."""

    items: Sequence[NodeHealth]
    total: int


def worst(health: FleetHealth, most: int) -> Shown:
    """The nodes that are shown where not all fit: those with sessions or trouble before those without."""
    ranked = sorted(health.nodes, key=lambda node: node.state is State.OK and not node.sessions.total)
    return Shown(ranked[:most], len(health.nodes))


def told(
    changes: Sequence[HealthChange], transitions: Sequence[TransitionRead], incidents: Sequence[IncidentRead]
) -> list[Happened]:
    """What happened to a node, from whoever noted it, the latest first."""
    found = [
        *(Happened(change.at, "health", change) for change in changes),
        *(Happened(transition.at, "flap", transition) for transition in transitions),
        *(Happened(incident.opened_at, "opened", incident) for incident in incidents),
        *(Happened(incident.closed_at, "closed", incident) for incident in incidents if incident.closed_at),
    ]
    return sorted(found, key=lambda happened: happened.at, reverse=True)
