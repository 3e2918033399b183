"""What needs a person: issues for the eye, and findings that may become incidents."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import datetime

from control_server.health.rules.judging import WORST_FIRST, is_old
from control_server.health.schemas import (
    FleetHealth,
    Issue,
    NodeHealth,
    NodeView,
    PartName,
    RoutingFacts,
    SessionCounts,
    State,
)
from control_server.incidents.schemas import Finding, IncidentKind, Severity

_INCIDENTS = {
    "apply_failed": (IncidentKind.APPLY_FAILED, Severity.CRITICAL),
    "drift": (IncidentKind.DRIFT, Severity.WARNING),
    "bird_unavailable": (IncidentKind.ROUTING_UNAVAILABLE, Severity.CRITICAL),
    "monitoring_degraded": (IncidentKind.MONITORING_DEGRADED, Severity.WARNING),
    "session_down": (IncidentKind.SESSION_DOWN, Severity.WARNING),
    "tunnel_silent": (IncidentKind.TUNNEL_SILENT, Severity.WARNING),
}
#: Told by the sessions themselves.
_SESSIONS_SAY = frozenset({"own_session_down", "all_neighbours_down"})
_OF_SESSIONS = frozenset({"session_down", "tunnel_silent"})
_ISSUE_RANK = {state: rank for rank, state in enumerate((*WORST_FIRST, State.MAINTENANCE))}
_NODE_RANK = {state: rank for rank, state in enumerate((*WORST_FIRST[:-1], State.MAINTENANCE, State.OK))}


def issues_of(view: NodeView, health: NodeHealth, now: datetime) -> list[Issue]:
    """Everything that is wrong with a node, and with its sessions and tunnels."""
    muted = health.state is State.MAINTENANCE
    found = [
        Issue(
            kind=reason.code,
            node_id=view.node_id,
            state=part.state,
            since=part.since,
            detail=reason.detail,
            muted=muted,
        )
        for part in health.parts
        for reason in part.reasons
        if reason.code not in _SESSIONS_SAY
        and not (part.part is PartName.ROUTING and reason.code == "not_observed")
    ]
    routing = view.facts.routing
    if routing is None or is_old(routing, now) or routing.unseen_since is not None:
        return found
    return [*found, *_of_sessions(view.node_id, routing, muted=muted)]


def findings_of(view: NodeView, known: Sequence[Issue], now: datetime) -> list[Finding]:
    """What may be incidents of a node's issues. A session that cannot be seen is taken to be as it was."""
    issues = list(known)
    routing = view.facts.routing
    if routing is not None and not any(issue.kind in _OF_SESSIONS for issue in issues):
        issues += _of_sessions(view.node_id, routing, muted=False)
    found = (finding_of(issue, now) for issue in issues)
    return [finding for finding in found if finding is not None]


def _of_sessions(node_id: str, routing: RoutingFacts, *, muted: bool) -> list[Issue]:
    fallen = [
        Issue(
            kind="session_down",
            node_id=node_id,
            subject=session.name,
            state=State.DOWN,
            since=session.since or routing.taken_at,
            detail=session.error,
            muted=muted,
        )
        for session in routing.fallen
    ]
    silent = [
        Issue(
            kind="tunnel_silent",
            node_id=node_id,
            subject=tunnel.interface,
            state=State.DEGRADED,
            since=tunnel.since or routing.taken_at,
            muted=muted,
        )
        for tunnel in routing.silent
    ]
    return [*fallen, *silent]


def finding_of(issue: Issue, now: datetime) -> Finding | None:
    """What the issue may become; None: it stays an issue, or the watch over lost nodes has it."""
    found = _INCIDENTS.get(issue.kind)
    if found is None:
        return None
    kind, severity = found
    details = {"reason": issue.detail} if issue.detail else {}
    return Finding(kind, issue.node_id, issue.subject, min(issue.since or now, now), severity, details)


def cannot_be_seen(health: NodeHealth) -> bool:
    """Whether nothing can be said of what is wrong there: what was wrong neither ends nor begins."""
    if health.state is State.MAINTENANCE:
        return True
    routing = next(part for part in health.parts if part.part is PartName.ROUTING)
    return routing.state is State.UNKNOWN and health.liveness != "online"


def fleet_of(nodes: Sequence[NodeHealth], issues: Sequence[Issue], now: datetime) -> FleetHealth:
    """All nodes together, the worst first."""
    counts = Counter(node.state for node in nodes)
    sessions = [node.sessions for node in nodes]
    # Not validated: every value is ours, and a large fleet is put together for one page.
    return FleetHealth.model_construct(
        generated_at=now,
        total=len(nodes),
        counts={state: counts[state] for state in State},
        online=sum(node.liveness == "online" for node in nodes),
        sessions=SessionCounts(
            established=sum(counted.established for counted in sessions),
            down=sum(counted.down for counted in sessions),
            disabled=sum(counted.disabled for counted in sessions),
            unknown=sum(counted.unknown for counted in sessions),
        ),
        nodes=sorted(nodes, key=lambda node: (_NODE_RANK[node.state], node.node_id)),
        issues=sorted(issues, key=lambda i: (i.muted, _ISSUE_RANK[i.state], i.node_id, i.kind, i.subject)),
    )
