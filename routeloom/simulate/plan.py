"""What a simulation does: how many of what, for how long, and which faults befall whom. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from random import Random

#: Seconds between two heartbeats and two samples of counters: nothing happens more often.
TICK = 30
#: Seconds between two snapshots that nobody asked for.
SNAPSHOT_EVERY = 300
#: Seconds between two reports of prefixes.
PREFIXES_EVERY = 60
#: Nothing goes wrong before everybody has been heard, nor at the end, so that the last fault is told as well.
_QUIET_AT_FIRST = 900
_QUIET_AT_LAST = 1500
#: Between two faults of one node at least: each is seen by itself, whatever the phase of the snapshots.
_LEAST_PAUSE = 2 * SNAPSHOT_EVERY + 60
_GREATEST_PAUSE = 1500
_SERVER_RESTARTS_EVERY = 5400
BURST = 4
BURST_EVERY = SNAPSHOT_EVERY + 40


class FaultKind(StrEnum):
    """What can befall a node, its agent or the server."""

    SESSION_DROP = "session_drop"
    #: The same session falls again and again.
    SESSION_BURST = "session_burst"
    #: More than half of a node's sessions fall at the same instant.
    NODE_DROP = "node_drop"
    DAEMON_RESTART = "daemon_restart"
    HOST_REBOOT = "host_reboot"
    AGENT_CUT = "agent_cut"
    AGENT_RESTART = "agent_restart"
    AGENT_AWAY = "agent_away"
    CLOCK_STEP = "clock_step"
    #: An interface is made anew: its counters begin anew, and say so.
    COUNTER_RESET = "counter_reset"
    #: Counters begin anew without saying so.
    COUNTER_BACK = "counter_back"
    SERVER_RESTART = "server_restart"


@dataclass(frozen=True, slots=True, order=True)
class Fault:
    """One fault. Seconds count from the beginning of the simulation."""

    at: int
    node: int
    kind: FaultKind
    #: A session or an interface of the node, by its place.
    subject: int = 0
    lasts: int = 0
    #: Seconds by which a clock is set.
    size: int = 0


@dataclass(frozen=True, slots=True)
class Plan:
    """Everything that a simulation is made of."""

    nodes: int = 4
    sessions: int = 6
    prefixes: int = 200
    hours: float = 4.0
    seed: int = 1
    faults: frozenset[FaultKind] = frozenset(FaultKind)
    start: datetime = datetime(2030, 1, 2, tzinfo=UTC)

    @property
    def seconds(self) -> int:
        """Length in whole ticks."""
        return int(self.hours * 3600) // TICK * TICK

    def node_name(self, index: int) -> str:
        """The id of a node."""
        return f"sim{index + 1:03d}"


#: How often each kind comes, and how long it lasts, in seconds.
_KINDS: dict[FaultKind, tuple[int, tuple[int, ...]]] = {
    FaultKind.SESSION_DROP: (6, (20, 90, 400, 900)),
    FaultKind.SESSION_BURST: (2, (15,)),
    FaultKind.NODE_DROP: (1, (60, 400)),
    FaultKind.DAEMON_RESTART: (1, (12,)),
    FaultKind.HOST_REBOOT: (1, (45,)),
    FaultKind.AGENT_CUT: (2, (0,)),
    FaultKind.AGENT_RESTART: (2, (30,)),
    FaultKind.AGENT_AWAY: (1, (150, 540, 900)),
    FaultKind.CLOCK_STEP: (1, (1800,)),
    FaultKind.COUNTER_RESET: (1, (0,)),
    FaultKind.COUNTER_BACK: (1, (0,)),
}
_STEPS = (-7200, -600, 600, 7200)


def schedule(plan: Plan) -> list[Fault]:
    """Every fault in order of time."""
    found = [fault for node in range(plan.nodes) for fault in _of_node(plan, node)]
    return sorted([*found, *_of_server(plan)])


def _of_node(plan: Plan, node: int) -> Iterator[Fault]:
    dice = Random(f"{plan.seed}/faults/{node}")  # noqa: S311 - made up, and the same every time
    kinds = [kind for kind in _KINDS if kind in plan.faults]
    weights = [_KINDS[kind][0] for kind in kinds]
    at = _QUIET_AT_FIRST + dice.randrange(SNAPSHOT_EVERY)
    while kinds:
        kind = dice.choices(kinds, weights)[0]
        lasts = dice.choice(_KINDS[kind][1])
        ends = at + (BURST * BURST_EVERY if kind is FaultKind.SESSION_BURST else lasts)
        if ends > plan.seconds - _QUIET_AT_LAST:
            return
        subject = dice.randrange(plan.sessions)
        size = dice.choice(_STEPS) if kind is FaultKind.CLOCK_STEP else 0
        yield Fault(at, node, kind, subject, lasts, size)
        at = ends + dice.randrange(_LEAST_PAUSE, _GREATEST_PAUSE)


def _of_server(plan: Plan) -> Iterator[Fault]:
    if FaultKind.SERVER_RESTART in plan.faults:
        for at in range(_SERVER_RESTARTS_EVERY, plan.seconds - _QUIET_AT_LAST, _SERVER_RESTARTS_EVERY):
            yield Fault(at, -1, FaultKind.SERVER_RESTART)
