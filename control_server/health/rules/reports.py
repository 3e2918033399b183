"""What is kept of a report to judge its node by."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import datetime, timedelta

from control_server.flaps.schemas import SessionState
from control_server.health.schemas import (
    ApplyFacts,
    DriftFacts,
    RoutingFacts,
    SessionCounts,
    SessionHealth,
    TunnelFacts,
)
from shared.protocol.fleet import (
    ApplyResult,
    DriftSeverity,
    ProtocolState,
    ReconciliationReport,
    RuntimeSnapshot,
    Sight,
    TunnelState,
)

#: WireGuard makes new keys every two minutes while there is traffic, and tries for ninety seconds more.
_HANDSHAKE_AGE = timedelta(seconds=215)
_MOST_FALLEN = 200
_WORDS = 300
_WORST_FIRST = (SessionState.DOWN, SessionState.UNKNOWN, SessionState.DISABLED, SessionState.ESTABLISHED)


def of_apply(result: ApplyResult) -> ApplyFacts:
    """What became of a generation."""
    detail = "; ".join(error.detail for error in result.errors)
    return ApplyFacts(
        generation=result.generation, status=result.status, detail=detail[:_WORDS], at=result.finished_at
    )


def of_drift(report: ReconciliationReport, before: DriftFacts | None) -> DriftFacts | None:
    """What differs; None when nothing does that matters."""
    matters = [item for item in report.items if item.severity is not DriftSeverity.INFO]
    if not matters:
        return None
    first = f"{matters[0].subject}: {matters[0].observed}"[:_WORDS]
    return DriftFacts(count=len(matters), first=first, since=before.since if before else report.checked_at)


def of_snapshot(
    snapshot: RuntimeSnapshot,
    sessions: Sequence[SessionHealth],
    received_at: datetime,
    before: RoutingFacts | None,
) -> RoutingFacts:
    """What runs, short."""
    seen = snapshot.routing.sight is Sight.OBSERVED
    if snapshot.routing.sight is Sight.UNAVAILABLE:
        return _unseen(snapshot, received_at, before)
    fallen = [session for session in sessions if session.state is SessionState.DOWN]
    counts = Counter(session.state for session in sessions)
    return RoutingFacts(
        taken_at=snapshot.taken_at,
        received_at=received_at,
        seen=seen,
        reason=snapshot.routing.reason[:_WORDS],
        counts=SessionCounts(**{state.value: number for state, number in counts.items()}),
        foreign=sum(
            not session.internal and session.state is not SessionState.DISABLED for session in sessions
        ),
        fallen=sorted(fallen, key=lambda session: (not session.internal, session.name))[:_MOST_FALLEN],
        silent=_silent(snapshot, before),
        sent={tunnel.interface: tunnel.sent_bytes for tunnel in snapshot.tunnels},
    )


def _unseen(snapshot: RuntimeSnapshot, received_at: datetime, before: RoutingFacts | None) -> RoutingFacts:
    """BIRD does not answer: what was seen before is the last that is known."""
    known = before or RoutingFacts(taken_at=snapshot.taken_at, received_at=received_at, seen=False)
    changed = {
        "taken_at": snapshot.taken_at,
        "received_at": received_at,
        "seen": False,
        "reason": snapshot.routing.reason[:_WORDS],
        "unseen_since": known.unseen_since or snapshot.taken_at,
    }
    return known.model_copy(update=changed)


def sessions_in(
    snapshot: RuntimeSnapshot, states: Sequence[tuple[ProtocolState, SessionState]], own_asn: int | None
) -> list[SessionHealth]:
    """Every session, the worst first."""
    if snapshot.routing.sight is not Sight.OBSERVED:
        return []
    found = [_session(protocol, state, own_asn) for protocol, state in states]
    return sorted(found, key=lambda session: (_WORST_FIRST.index(session.state), session.name))


def _session(protocol: ProtocolState, state: SessionState, own_asn: int | None) -> SessionHealth:
    def total(name: str) -> int | None:
        known = [getattr(channel, name) for channel in protocol.channels]
        return sum(count for count in known if count is not None) if set(known) - {None} else None

    return SessionHealth(
        name=protocol.name,
        state=state,
        since=protocol.since,
        neighbor_asn=protocol.neighbor_asn,
        neighbor_address=protocol.neighbor_address,
        internal=own_asn is not None and protocol.neighbor_asn == own_asn,
        error=protocol.error if state is not SessionState.ESTABLISHED else "",
        error_class=protocol.error_class or "" if state is not SessionState.ESTABLISHED else "",
        imported=total("imported"),
        filtered=total("filtered"),
        exported=total("exported"),
    )


def _silent(snapshot: RuntimeSnapshot, before: RoutingFacts | None) -> list[TunnelFacts]:
    return [
        TunnelFacts(interface=tunnel.interface, since=tunnel.latest_handshake)
        for tunnel in snapshot.tunnels
        if is_silent(tunnel, snapshot.taken_at, before.sent.get(tunnel.interface) if before else None)
    ]


def is_silent(tunnel: TunnelState, at: datetime, sent_before: int | None) -> bool:
    """Whether a tunnel should have been heard of. One that nobody uses is quiet, and well."""
    expected = bool(tunnel.keepalive) or (sent_before is not None and tunnel.sent_bytes > sent_before)
    if not expected:
        return False
    return tunnel.latest_handshake is None or at - tunnel.latest_handshake > _HANDSHAKE_AGE
