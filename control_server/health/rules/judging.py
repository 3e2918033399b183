"""How a node is: part by part, each with its reasons; overall the worst part that has one."""

from __future__ import annotations

from datetime import datetime, timedelta

from control_server.health.schemas import (
    NodeHealth,
    NodeView,
    PartHealth,
    PartName,
    Reason,
    RoutingFacts,
    SessionCounts,
    State,
)

#: Snapshots come every five minutes; after three that did not come nothing is known of sessions.
OBSERVED_WITHIN = timedelta(minutes=15)
#: A generation that is not tried by then is late: the agent hears of it by its second heartbeat.
_APPLIED_WITHIN = timedelta(seconds=150)
_MEMORY_SHARE = 0.95
_CLOCK_OFF = timedelta(seconds=60)

WORST_FIRST = (State.DOWN, State.DEGRADED, State.STALE, State.UNKNOWN, State.OK)
_LINK = {
    "online": (State.OK, ""),
    "stale": (State.STALE, "agent_stale"),
    "offline": (State.DOWN, "agent_offline"),
    "unknown": (State.UNKNOWN, "never_reported"),
}


def judge(view: NodeView, now: datetime) -> NodeHealth:
    """The health of a node now."""
    parts = [_link(view), _configuration(view, now), _routing(view, now), _host(view, now)]
    for part in parts:
        _since_as_it_stood(part, view)
    wrong = sorted((part for part in parts if part.reasons), key=lambda part: WORST_FIRST.index(part.state))
    state = wrong[0].state if wrong else State.OK
    since = wrong[0].since if wrong else _last(parts)
    if view.maintenance_since is not None:
        state, since = State.MAINTENANCE, view.maintenance_since
    stood = view.stood.get("overall")
    if stood is not None and stood.state is state and not (state is State.UNKNOWN and _never(view)):
        since = stood.since
    return NodeHealth.model_construct(
        node_id=view.node_id,
        site=view.site,
        state=state,
        reasons=[reason for part in wrong for reason in part.reasons],
        since=since,
        liveness=view.liveness,
        parts=parts,
        sessions=_sessions(view, now),
        maintenance_reason=view.maintenance_reason,
        observed_at=view.facts.routing.taken_at if view.facts.routing else None,
        session_list=[],
    )


def outlook(view: NodeView, now: datetime) -> tuple[object, ...]:
    """All that a judgement depends on: a node that has the same twice is judged the same twice.

    Of every instant that goes by there is only what it decides, so that a node that is well and is heard
    every 30 s looks the same for hours.
    """
    short_of_memory = view.memory_share is not None and view.memory_share > _MEMORY_SHARE
    routing = view.facts.routing
    return (
        view.facts,
        view.stood,
        view.site,
        view.desired,
        view.changed_at,
        view.maintenance_reason,
        view.maintenance_since,
        view.routes,
        view.liveness,
        view.connected_at,
        view.heard_at if short_of_memory or view.liveness != "online" else None,
        view.memory_share if short_of_memory else view.memory_share is None,
        routing is not None and is_old(routing, now),
        now - view.changed_at > _APPLIED_WITHIN,
    )


def is_old(routing: RoutingFacts, now: datetime) -> bool:
    """Whether it says nothing any more of how sessions are."""
    return now - routing.received_at > OBSERVED_WITHIN


def _since_as_it_stood(part: PartHealth, view: NodeView) -> None:
    stood = view.stood.get(part.part)
    never = part.part is PartName.LINK and _never(view)
    if stood is not None and stood.state is part.state and not never:
        part.since = stood.since


def _never(view: NodeView) -> bool:
    """Whether the node was never heard: that began with nothing."""
    return view.liveness == "unknown"


def _last(parts: list[PartHealth]) -> datetime | None:
    return max((part.since for part in parts if part.since is not None), default=None)


def _part(name: PartName, state: State, reasons: list[Reason], since: datetime | None) -> PartHealth:
    # Not validated: every value is ours, and a large fleet is judged for one page.
    return PartHealth.model_construct(part=name, state=state, reasons=reasons, since=since)


def _link(view: NodeView) -> PartHealth:
    state, code = _LINK[view.liveness]
    since = view.connected_at if state is State.OK else view.heard_at
    return _part(PartName.LINK, state, [Reason(code=code)] if code else [], since)


def _configuration(view: NodeView, now: datetime) -> PartHealth:
    apply, drift, reasons = view.facts.apply, view.facts.drift, []
    since: datetime | None = None
    tried = apply.generation if apply else 0
    if apply is not None and apply.status == "failed":
        reasons.append(Reason(code="apply_failed", detail=apply.detail))
        since = apply.at
    elif apply is not None and apply.status == "paused":
        reasons.append(Reason(code="agent_paused"))
        since = apply.at
    if view.desired > tried and now - view.changed_at > _APPLIED_WITHIN:
        reasons.append(Reason(code="generation_behind", detail=f"{tried} / {view.desired}"))
        since = since or view.changed_at
    if drift is not None:
        reasons.append(Reason(code="drift", detail=drift.first, count=drift.count))
        since = since or drift.since
    # An agent that has applied nothing yet has shown nothing, well as it may be otherwise.
    state = State.DEGRADED if reasons else State.OK if apply is not None else State.UNKNOWN
    return _part(PartName.CONFIGURATION, state, reasons, since or (apply.at if apply else None))


def _routing(view: NodeView, now: datetime) -> PartHealth:
    routing = view.facts.routing
    if routing is None or (not routing.seen and routing.unseen_since is None):
        return _part(PartName.ROUTING, State.UNKNOWN, [], None)
    if is_old(routing, now):
        # A node that is not heard says so by its link; one that is, and does not tell, is another matter.
        code = "monitoring_degraded" if view.liveness == "online" else "not_observed"
        return _part(
            PartName.ROUTING, State.UNKNOWN, [Reason(code=code)], routing.received_at + OBSERVED_WITHIN
        )
    if routing.unseen_since is not None:
        if not view.routes and not routing.counts.total:
            return _part(PartName.ROUTING, State.UNKNOWN, [], None)
        reasons = [Reason(code="bird_unavailable", detail=routing.reason)]
        return _part(PartName.ROUTING, State.DEGRADED, reasons, routing.unseen_since)
    own = [session for session in routing.fallen if session.internal]
    foreign = len(routing.fallen) - len(own)
    reasons = []
    if own:
        reasons.append(Reason(code="own_session_down", detail=", ".join(s.name for s in own), count=len(own)))
    if foreign > 1 and foreign == routing.foreign:
        reasons.append(Reason(code="all_neighbours_down", count=foreign))
    since = min((s.since for s in routing.fallen if s.since), default=None) if reasons else None
    state = State.DEGRADED if reasons else State.OK
    return _part(PartName.ROUTING, state, reasons, since or routing.taken_at)


def _host(view: NodeView, now: datetime) -> PartHealth:
    del now
    reasons, since = [], None
    if view.memory_share is not None and view.memory_share > _MEMORY_SHARE:
        reasons.append(Reason(code="memory_low", detail=f"{view.memory_share:.0%}"))
        since = view.heard_at
    routing = view.facts.routing
    if routing is not None and abs(routing.received_at - routing.taken_at) > _CLOCK_OFF:
        off = (routing.taken_at - routing.received_at).total_seconds()
        reasons.append(Reason(code="clock_off", detail=f"{off:+.0f} s"))
        since = since or routing.received_at
    known = view.memory_share is not None or routing is not None
    state = State.DEGRADED if reasons else State.OK if known else State.UNKNOWN
    return _part(PartName.HOST, state, reasons, since)


def _sessions(view: NodeView, now: datetime) -> SessionCounts:
    routing = view.facts.routing
    if routing is None:
        return SessionCounts()
    if is_old(routing, now) or routing.unseen_since is not None:
        return SessionCounts(unknown=routing.counts.total)
    return routing.counts
