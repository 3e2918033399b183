"""What happened to a node's sessions between two looks at it, and whom it is charged to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from control_server.flaps.rules.looks import (
    STEP,
    Happening,
    SeenNode,
    SeenSession,
    SessionBase,
    SessionEntry,
)
from control_server.flaps.rules.score import DROP, Tally
from control_server.flaps.schemas import EventKind, Pardon, SessionState, SubjectKind

#: BIRD computes `since` anew at every display, and NTP steps the clock under it.
TOLERANCE = 5.0
#: A node's snapshots come at most so often; an older one that comes sooner after a newer one is a late one.
_BETWEEN = 60.0
#: Instants of looks that are remembered, so that one that is told again is known.
_REMEMBERED = 8
#: Fewer sessions than this falling at once say nothing of the node.
_MANY = 2


@dataclass(frozen=True, slots=True)
class Advanced:
    """What is remembered from now on, and what happened. Not `taken`: the snapshot says nothing new."""

    base: SessionBase
    happenings: tuple[Happening, ...] = ()
    taken: bool = True


def advance(base: SessionBase | None, seen: SeenNode) -> Advanced:
    """Go from one look to the next. The first one, and the first after a loss, charges nobody."""
    if base is None:
        return Advanced(_taken_in(SessionBase(), seen, {}, Tally()))
    if not _is_news(base, seen):
        return Advanced(base, taken=False)
    judged = _node_wide(base, _pardoned(base, seen, _found(base, seen)))
    entries = {
        session.name: _entry_of(base.sessions.get(session.name), session, base.taken_at)
        for session in seen.sessions
    }
    node, told = base.node, []
    for happening in sorted(judged, key=lambda found: found.at):
        at = seen.on_our_clock(happening.at)
        if happening.kind is SubjectKind.NODE:
            node, kept = _charge(node, replace(happening, at=at))
        else:
            entry = entries[happening.subject]
            tally, kept = _charge(entry.tally, replace(happening, at=at))
            entries[happening.subject] = replace(entry, tally=tally)
        told.append(kept)
    return Advanced(_taken_in(base, seen, entries, node), tuple(told))


def _is_news(base: SessionBase, seen: SeenNode) -> bool:
    if seen.taken_at in base.recent:
        return False
    # An older one is a late one, unless time enough has passed here: then the node's clock went back.
    return seen.taken_at > base.taken_at or seen.received_at - base.received_at > _BETWEEN


def _taken_in(
    base: SessionBase, seen: SeenNode, entries: Mapping[str, SessionEntry], node: Tally
) -> SessionBase:
    known = dict(entries) or {session.name: _entry_of(None, session) for session in seen.sessions}
    for name, entry in base.sessions.items():
        if name not in known and not entry.tally.forgotten(seen.received_at):
            known[name] = replace(entry, state=SessionState.UNKNOWN, since=None)
    return SessionBase(
        fence=base.fence,
        taken_at=seen.taken_at,
        received_at=seen.received_at,
        started_at=seen.started_at if seen.started_at is not None else base.started_at,
        running=seen.running or base.running,
        recent=(*base.recent, seen.taken_at)[-_REMEMBERED:],
        node=node,
        sessions=known,
    )


def _entry_of(
    before: SessionEntry | None, session: SeenSession, looked_at: float = float("inf")
) -> SessionEntry:
    if before is not None and session.state is SessionState.UNKNOWN:
        return before
    entry = SessionEntry(
        state=session.state,
        since=session.since,
        precision=session.precision,
        updates=session.updates,
        asn=session.asn,
        error=session.error,
        tally=before.tally if before else Tally(),
    )
    if before is None or entry.state is not before.state or _moved_by(before, session, looked_at):
        return entry
    # The same instant, told in another form: the first one that was told is kept, where it says more.
    # Else the newest: an instant that creeps with the clock's own drift must not add up to a move.
    finer = before if before.since is not None and before.precision < session.precision else session
    error = session.error or before.error
    return replace(entry, since=finer.since, precision=finer.precision, error=error)


def _found(base: SessionBase, seen: SeenNode) -> list[Happening]:
    found = (_between(base, seen, session) for session in seen.sessions)
    return [happening for happening in found if happening is not None]


def _between(base: SessionBase, seen: SeenNode, session: SeenSession) -> Happening | None:
    before = base.sessions.get(session.name)
    if before is None or SessionState.UNKNOWN in {before.state, session.state}:
        return None
    at = session.since if session.since is not None else seen.taken_at
    if before.state is not session.state:
        return _changed(before, session, at)
    if session.state is SessionState.DISABLED:
        return None
    if _moved_by(before, session, base.taken_at):
        down = session.state is SessionState.DOWN
        return _happening(session, EventKind.LEFT if down else EventKind.MISSED, at)
    if _counted_back(before, session):
        return replace(
            _happening(session, EventKind.MISSED, seen.taken_at), key=f"reset@{round(seen.taken_at)}"
        )
    return None


def _changed(before: SessionEntry, session: SeenSession, at: float) -> Happening | None:
    if session.state is SessionState.ESTABLISHED:
        return replace(_happening(session, EventKind.UP, at), weight=0)
    if session.state is SessionState.DISABLED:
        disabled = replace(_happening(session, EventKind.DISABLED, at), weight=0)
        return replace(disabled, reason_class=Pardon.OURS)
    if before.state is SessionState.ESTABLISHED:
        return _happening(session, EventKind.LEFT, at)
    return None  # enabled again, and not up yet


def _happening(session: SeenSession, event: EventKind, at: float) -> Happening:
    # Keyed by the state that it led to: a flap found out by its end alone is not told beside that end.
    return Happening(
        kind=SubjectKind.SESSION,
        subject=session.name,
        event=event,
        key=f"{session.state}@{round(at)}",
        at=at,
        weight=DROP,
        reason=session.error,
        reason_class=session.error_class,
    )


def _moved_by(before: SessionEntry, session: SeenSession, looked_at: float) -> float:
    """By how much `since` has moved, as far as that can be told; 0 when it has not."""
    if before.since is None or session.since is None:
        return 0.0
    moved = session.since - before.since
    # What is since a time after the last look has moved, however little was known of where from.
    later = session.precision <= TOLERANCE and session.since > looked_at + TOLERANCE
    known = abs(moved) > max(TOLERANCE, before.precision, session.precision)
    return moved if known or (later and moved) else 0.0


def _counted_back(before: SessionEntry, session: SeenSession) -> bool:
    if before.updates is None or session.updates is None:
        return False
    return session.state is SessionState.ESTABLISHED and session.updates < before.updates


def _pardoned(base: SessionBase, seen: SeenNode, found: Sequence[Happening]) -> list[Happening]:
    skew = (seen.taken_at - base.taken_at) - (seen.received_at - base.received_at)
    stepped = skew if abs(skew) > STEP else 0.0
    restarted = _restarted(base, seen, stepped)
    reconfigured = None not in {base.running, seen.running} and base.running != seen.running
    by_name = {session.name: session for session in seen.sessions}
    judged: list[Happening] = []
    for happening in found:
        pardon: Pardon | None = None
        if _only_clock(base, by_name[happening.subject], happening, stepped):
            continue
        if seen.maintenance:
            pardon = Pardon.MAINTENANCE
        elif restarted:
            pardon = Pardon.DAEMON_RESTARTED
        elif reconfigured and _ours(happening):
            pardon = Pardon.RECONFIGURED
        judged.append(_forgiven(happening, pardon) if pardon and happening.weight else happening)
    return judged


def _only_clock(base: SessionBase, session: SeenSession, happening: Happening, stepped: float) -> bool:
    """Whether nothing but the node's clock has moved."""
    before = base.sessions[session.name]
    if not stepped or before.state is not session.state or happening.key.startswith("reset"):
        return False
    tolerance = max(TOLERANCE, before.precision, session.precision)
    return abs(_moved_by(before, session, base.taken_at) - stepped) <= tolerance


def _restarted(base: SessionBase, seen: SeenNode, stepped: float) -> bool:
    if base.started_at is None or seen.started_at is None:
        return False
    moved = seen.started_at - base.started_at
    tolerance = max(TOLERANCE, seen.started_precision)
    return abs(moved) > tolerance and abs(moved - stepped) > tolerance


def _ours(happening: Happening) -> bool:
    """Whether a new configuration explains it: nobody else is named as the cause."""
    return happening.event is EventKind.MISSED or not happening.reason


def _forgiven(happening: Happening, pardon: Pardon) -> Happening:
    reason_class = happening.reason_class if pardon is Pardon.NODE_WIDE else pardon
    return replace(happening, weight=0, reason_class=reason_class or pardon)


def _node_wide(base: SessionBase, judged: Sequence[Happening]) -> list[Happening]:
    """When more than half of what was up fell, the node is charged once, and its sessions are not."""
    up = sum(entry.state is SessionState.ESTABLISHED for entry in base.sessions.values())
    fallen = [found for found in judged if found.weight]
    if len(fallen) < _MANY or len(fallen) * 2 <= up:
        return list(judged)
    at = min(found.at for found in fallen)
    whole = Happening(
        SubjectKind.NODE,
        "",
        EventKind.NODE_WIDE,
        key=f"down@{round(at)}",
        at=at,
        weight=DROP,
        reason=f"{len(fallen)} of {up}",
    )
    return [*(_forgiven(found, Pardon.NODE_WIDE) if found.weight else found for found in judged), whole]


def _charge(tally: Tally, happening: Happening) -> tuple[Tally, Happening]:
    before, level = tally.score.now(happening.at), tally.level_at(happening.at)
    after = tally.charged(happening.weight, happening.at)
    return after, replace(
        happening,
        before=before,
        after=after.score.now(max(happening.at, after.score.at)) if happening.weight else before,
        level=after.level_at(happening.at),
        level_before=level,
        clears_at=after.clears_at(happening.at),
    )
