"""What one look at a node shows, what is remembered between two, and what may have happened."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from control_server.flaps.rules.score import NOTHING, Tally
from control_server.flaps.schemas import EventKind, Level, SessionState, SubjectKind

#: Two clocks that moved apart by more than this between two looks: one of them was set.
STEP = 30.0


@dataclass(frozen=True, slots=True)
class SeenSession:
    """One session in a snapshot. Instants are the node's own, in seconds since the epoch."""

    name: str
    state: SessionState
    since: float | None = None
    precision: float = 0.0
    asn: int | None = None
    error: str = ""
    error_class: str = ""
    #: Updates received since the session came up: it goes back only when the session did.
    updates: int | None = None


@dataclass(frozen=True, slots=True)
class SeenNode:
    """One snapshot as the scores see it."""

    taken_at: float
    #: By the server's clock.
    received_at: float
    sessions: Sequence[SeenSession]
    #: When BIRD was started; None where it was not told.
    started_at: float | None = None
    started_precision: float = 0.0
    #: Identity of the configuration that runs.
    running: str | None = None
    maintenance: bool = False

    def on_our_clock(self, instant: float) -> float:
        """An instant of the node's on the server's clock. Only a clock that is well off is corrected."""
        offset = self.received_at - self.taken_at
        return min(self.received_at, instant if abs(offset) <= STEP else instant + offset)


@dataclass(frozen=True, slots=True)
class SessionEntry:
    """What is remembered of a session."""

    state: SessionState
    since: float | None = None
    precision: float = 0.0
    updates: int | None = None
    asn: int | None = None
    error: str = ""
    tally: Tally = NOTHING


@dataclass(frozen=True, slots=True)
class SessionBase:
    """What is remembered of a node between two looks."""

    fence: int = 0
    taken_at: float = 0.0
    received_at: float = 0.0
    started_at: float | None = None
    running: str | None = None
    recent: tuple[float, ...] = ()
    node: Tally = NOTHING
    sessions: Mapping[str, SessionEntry] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Happening:
    """Something to be kept for good. `key` is the same however often it is found out."""

    kind: SubjectKind
    subject: str
    event: EventKind
    key: str
    at: float
    weight: int
    before: float = 0.0
    after: float = 0.0
    level: Level = Level.STABLE
    level_before: Level = Level.STABLE
    reason: str = ""
    reason_class: str = ""
    clears_at: float | None = None
