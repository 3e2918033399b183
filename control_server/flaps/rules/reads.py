"""States as people read them: every score decayed to now, the highest first."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime

from control_server.flaps.rules.looks import SessionBase
from control_server.flaps.rules.prefixes import PrefixBase
from control_server.flaps.rules.score import Tally
from control_server.flaps.schemas import FlapRead, SessionState, SubjectKind


def reads_of(
    sessions: Mapping[str, SessionBase], prefixes: Mapping[str, PrefixBase], now: datetime
) -> list[FlapRead]:
    """Everything that is remembered of nodes."""
    found = [
        *(read for node, base in sessions.items() for read in _of_sessions(node, base, now)),
        *(
            read_of((node, SubjectKind.PREFIX, prefix), entry.tally, now)
            for node, base in prefixes.items()
            for prefix, entry in base.prefixes.items()
        ),
    ]
    return sorted(found, key=lambda read: (-read.score, read.node_id, read.kind, read.subject))


def read_of(subject: tuple[str, SubjectKind, str], tally: Tally, now: datetime) -> FlapRead:
    """One score."""
    node_id, kind, name = subject
    instant = now.timestamp()
    known = not tally.forgotten(instant)
    clears_at = tally.clears_at(instant)
    return FlapRead(
        node_id=node_id,
        kind=kind,
        subject=name,
        level=tally.level_at(instant),
        score=round(tally.score.now(instant), 1),
        last_event_at=_instant(tally.last_at) if tally.last_at else None,
        first_event_at=_instant(tally.first_at) if known else None,
        events=tally.events if known else 0,
        clears_at=None if clears_at is None else _instant(clears_at),
    )


def _of_sessions(node: str, base: SessionBase, now: datetime) -> Iterator[FlapRead]:
    if not base.node.forgotten(now.timestamp()):
        yield read_of((node, SubjectKind.NODE, ""), base.node, now)
    for name, entry in base.sessions.items():
        read = read_of((node, SubjectKind.SESSION, name), entry.tally, now)
        read.state = SessionState(entry.state)
        read.since = None if entry.since is None else _instant(entry.since)
        read.neighbor_asn = entry.asn
        read.last_error = entry.error
        yield read


def _instant(seconds: float) -> datetime:
    return datetime.fromtimestamp(seconds, UTC)
