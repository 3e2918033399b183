"""From faults to single steps in order of time, and what each does to a node and to the truth. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from routeloom.simulate.node import SimulatedNode
from routeloom.simulate.plan import BURST, BURST_EVERY, Fault, FaultKind, Plan


class Act(StrEnum):
    """One thing that happens at one instant."""

    FALL = "fall"
    RISE = "rise"
    DAEMON_STARTED = "daemon_started"
    BOOTED = "booted"
    COUNTERS_ANEW = "counters_anew"
    COUNTERS_BACK = "counters_back"
    CLOCK_SET = "clock_set"
    AGENT_CUT = "agent_cut"
    AGENT_STOPPED = "agent_stopped"
    AGENT_STARTED = "agent_started"
    SERVER_RESTARTED = "server_restarted"


class Charge(StrEnum):
    """Whose score a fall counts for."""

    NOBODY = "nobody"
    SESSION = "session"
    NODE = "node"


@dataclass(frozen=True, slots=True)
class Step:
    """One act."""

    at: int
    node: int
    act: Act
    places: tuple[int, ...] = ()
    size: int = 0
    charge: Charge = Charge.NOBODY


def course(plan: Plan, faults: Sequence[Fault]) -> list[Step]:
    """Every step in order of time."""
    found = [step for fault in faults for step in _STEPS[fault.kind](plan, fault)]
    return sorted(found, key=lambda step: step.at)


def apply(step: Step, node: SimulatedNode) -> None:
    """Do to a node what a step says; what concerns agents and the server is not done here."""
    match step.act:
        case Act.FALL:
            node.fall(list(step.places), step.at)
            _charge(step, node)
        case Act.RISE:
            node.rise(list(step.places), step.at)
        case Act.DAEMON_STARTED:
            node.daemon_started_at = step.at
        case Act.BOOTED:
            node.reboot(step.at)
        case Act.COUNTERS_ANEW | Act.COUNTERS_BACK:
            node.counters_begin_anew(step.places[0], openly=step.act is Act.COUNTERS_ANEW)
        case Act.CLOCK_SET:
            node.clock_ahead = step.size
        case Act.AGENT_STARTED:
            node.life += 1
            node.samples = 0


def _charge(step: Step, node: SimulatedNode) -> None:
    if step.charge is Charge.NODE:
        node.truth.node_flaps[node.name] += 1
    elif step.charge is Charge.SESSION:
        for place in step.places:
            node.truth.session_flaps[node.name, node.sessions[place].name] += 1


def _drop(_plan: Plan, fault: Fault) -> Iterator[Step]:
    place = (fault.subject,)
    yield Step(fault.at, fault.node, Act.FALL, place, charge=Charge.SESSION)
    yield Step(fault.at + fault.lasts, fault.node, Act.RISE, place)


def _burst(plan: Plan, fault: Fault) -> Iterator[Step]:
    for number in range(BURST):
        at = fault.at + number * BURST_EVERY
        yield from _drop(plan, Fault(at, fault.node, fault.kind, fault.subject, fault.lasts))


def _node_drop(plan: Plan, fault: Fault) -> Iterator[Step]:
    most = tuple(range(plan.sessions // 2 + 1))
    yield Step(fault.at, fault.node, Act.FALL, most, charge=Charge.NODE)
    yield Step(fault.at + fault.lasts, fault.node, Act.RISE, most)


def _daemon(plan: Plan, fault: Fault) -> Iterator[Step]:
    every = tuple(range(plan.sessions))
    yield Step(fault.at, fault.node, Act.DAEMON_STARTED)
    yield Step(fault.at, fault.node, Act.FALL, every)
    yield Step(fault.at + fault.lasts, fault.node, Act.RISE, every)


def _reboot(plan: Plan, fault: Fault) -> Iterator[Step]:
    every, back = tuple(range(plan.sessions)), fault.at + fault.lasts
    yield Step(fault.at, fault.node, Act.AGENT_STOPPED)
    yield Step(fault.at, fault.node, Act.FALL, every)
    yield Step(back - 5, fault.node, Act.BOOTED)
    yield Step(back, fault.node, Act.RISE, every)
    yield Step(back, fault.node, Act.AGENT_STARTED)


def _away(_plan: Plan, fault: Fault) -> Iterator[Step]:
    yield Step(fault.at, fault.node, Act.AGENT_STOPPED)
    yield Step(fault.at + fault.lasts, fault.node, Act.AGENT_STARTED)


def _clock(_plan: Plan, fault: Fault) -> Iterator[Step]:
    yield Step(fault.at, fault.node, Act.CLOCK_SET, size=fault.size)
    yield Step(fault.at + fault.lasts, fault.node, Act.CLOCK_SET)


def _one(act: Act) -> Callable[[Plan, Fault], Iterator[Step]]:
    def steps(_plan: Plan, fault: Fault) -> Iterator[Step]:
        yield Step(fault.at, fault.node, act, (fault.subject,))

    return steps


_STEPS: dict[FaultKind, Callable[[Plan, Fault], Iterator[Step]]] = {
    FaultKind.SESSION_DROP: _drop,
    FaultKind.SESSION_BURST: _burst,
    FaultKind.NODE_DROP: _node_drop,
    FaultKind.DAEMON_RESTART: _daemon,
    FaultKind.HOST_REBOOT: _reboot,
    FaultKind.AGENT_CUT: _one(Act.AGENT_CUT),
    FaultKind.AGENT_RESTART: _away,
    FaultKind.AGENT_AWAY: _away,
    FaultKind.CLOCK_STEP: _clock,
    FaultKind.COUNTER_RESET: _one(Act.COUNTERS_ANEW),
    FaultKind.COUNTER_BACK: _one(Act.COUNTERS_BACK),
    FaultKind.SERVER_RESTART: _one(Act.SERVER_RESTARTED),
}
