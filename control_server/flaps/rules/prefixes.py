"""What a prefix report charges, and what it says of the rate of updates."""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from control_server.flaps.rules.looks import Happening
from control_server.flaps.rules.score import CHANGE, DROP, FORGOTTEN, NOTHING, Tally, seconds_until
from control_server.flaps.schemas import ChangeKind, EventKind, Level, SubjectKind

#: More are not remembered: of those that flap, the ones with the lowest scores go.
MOST_PREFIXES = 5000
#: A longer pause between two reports is a hole, and what came in it is not smeared over it.
_HOLE = 180.0
#: Paths of a prefix that are remembered.
_PATHS = 2
_PATH_LENGTH = 80
#: Numbers of reports that are remembered: workers may finish them in another order.
_REMEMBERED = 32
BUCKET_SECONDS = 300

_WEIGHTS = {ChangeKind.WITHDRAWN: DROP, ChangeKind.CHANGED: CHANGE, ChangeKind.ANNOUNCED: 0}
_ORDER = (Level.STABLE, Level.NOISY, Level.FLAPPING)


@dataclass(frozen=True, slots=True)
class SeenChange:
    """One change of our best path; its instant is on the server's clock."""

    prefix: str
    kind: ChangeKind
    at: float
    path: str = ""


@dataclass(frozen=True, slots=True)
class SeenReport:
    """One prefix report."""

    sequence: int
    taken_at: float
    changes: tuple[SeenChange, ...]
    updates: int
    #: Nobody is charged: a first sight, a restart of the daemon, a node in maintenance.
    pardoned: bool = False
    #: Whether its changes came since the report before it; else it says nothing of a rate.
    rated: bool = True


@dataclass(frozen=True, slots=True)
class PrefixEntry:
    """What is remembered of a prefix."""

    tally: Tally = NOTHING
    withdrawals: int = 0
    paths: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class PrefixBase:
    """What is remembered of a node's prefixes between two reports."""

    fence: int = 0
    #: Reports are numbered as they are taken in, each once; the latest of them are remembered.
    recent: tuple[int, ...] = ()
    taken_at: float = 0.0
    prefixes: Mapping[str, PrefixEntry] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Bucket:
    """What one report adds to the bucket of its time."""

    at: float
    seconds: float
    updates: int
    withdrawals: int
    changes: int


@dataclass(frozen=True, slots=True)
class Reported:
    """What is remembered from now on, what crossed a level, and the rate where it is known."""

    base: PrefixBase
    happenings: tuple[Happening, ...] = ()
    bucket: Bucket | None = None
    taken: bool = True


def report(base: PrefixBase | None, seen: SeenReport) -> Reported:
    """Take a report in. Without a base it counts no rate; one that was taken before changes nothing."""
    known = base or PrefixBase()
    if _taken_before(known, seen.sequence):
        return Reported(known, taken=False)
    prefixes, told = dict(known.prefixes), []
    for change in () if seen.pardoned else seen.changes:
        entry = prefixes.get(change.prefix, PrefixEntry())
        after = _changed(entry, change)
        prefixes[change.prefix] = after
        told += _crossed(entry.tally, after.tally, change)
    taken_at = max(known.taken_at, seen.taken_at)
    followed = PrefixBase(
        fence=known.fence,
        recent=tuple(sorted((*known.recent, seen.sequence))[-_REMEMBERED:]),
        taken_at=taken_at,
        prefixes=_kept(prefixes, taken_at),
    )
    return Reported(followed, tuple(told), _bucket(base, seen))


def _taken_before(base: PrefixBase, sequence: int) -> bool:
    full = len(base.recent) == _REMEMBERED
    return sequence in base.recent or (full and sequence < base.recent[0])


def active_until(tallies: Iterable[Tally]) -> float | None:
    """When the last of these will be forgotten; None when all are."""
    ends = (tally.score.at + seconds_until(tally.score.value, FORGOTTEN) for tally in tallies)
    return max(ends, default=None)


def _changed(entry: PrefixEntry, change: SeenChange) -> PrefixEntry:
    path = change.path[:_PATH_LENGTH]
    paths = entry.paths if not path else (*(known for known in entry.paths if known != path), path)[-_PATHS:]
    return PrefixEntry(
        tally=entry.tally.charged(_WEIGHTS[change.kind], change.at),
        withdrawals=entry.withdrawals + (change.kind is ChangeKind.WITHDRAWN),
        paths=paths,
    )


def _crossed(before: Tally, after: Tally, change: SeenChange) -> list[Happening]:
    was, now = before.level_at(change.at), after.level_at(change.at)
    if _ORDER.index(now) <= _ORDER.index(was):
        return []
    return [
        Happening(
            SubjectKind.PREFIX,
            change.prefix,
            EventKind.LEVEL,
            key=f"{now}@{round(change.at)}",
            at=change.at,
            weight=_WEIGHTS[change.kind],
            before=before.score.now(change.at),
            after=after.score.value,
            level=now,
            level_before=was,
            reason=change.path[:_PATH_LENGTH],
            reason_class=change.kind,
            clears_at=after.clears_at(change.at),
        )
    ]


def _kept(prefixes: Mapping[str, PrefixEntry], now: float) -> dict[str, PrefixEntry]:
    kept = {prefix: entry for prefix, entry in prefixes.items() if not entry.tally.forgotten(now)}
    if len(kept) <= MOST_PREFIXES:
        return kept
    highest = heapq.nlargest(MOST_PREFIXES, kept.items(), key=lambda item: item[1].tally.score.now(now))
    return dict(highest)


def _bucket(base: PrefixBase | None, seen: SeenReport) -> Bucket | None:
    if base is None or not seen.rated or seen.pardoned:
        return None
    seconds = seen.taken_at - base.taken_at
    if not 0 < seconds <= _HOLE:
        return None
    return Bucket(
        at=seen.taken_at - seen.taken_at % BUCKET_SECONDS,
        seconds=seconds,
        updates=seen.updates,
        withdrawals=sum(change.kind is ChangeKind.WITHDRAWN for change in seen.changes),
        changes=sum(change.kind is ChangeKind.CHANGED for change in seen.changes),
    )
