"""What is heard of sessions and prefixes, and the wire shapes of scores."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from pydantic import BaseModel, ConfigDict, Field

from control_server.nodes.schemas import NodeId


class Level(StrEnum):
    """How restless something is. It rises at 2,000 and 3,000 and falls only below 750."""

    STABLE = "stable"
    NOISY = "noisy"
    FLAPPING = "flapping"


class SubjectKind(StrEnum):
    """What is scored."""

    SESSION = "session"
    PREFIX = "prefix"
    #: Most sessions of a node fell at once: the node is charged, once.
    NODE = "node"


#: Node, kind, and name of the session or prefix; empty for the node itself.
Subject = tuple[str, SubjectKind, str]


class FlapTable(StrEnum):
    """What can be exported."""

    SESSIONS = "sessions"
    PREFIXES = "prefixes"
    TRANSITIONS = "transitions"


class SessionState(StrEnum):
    """How a BGP session stands. `unknown` is not `down`; `disabled` is our own will."""

    ESTABLISHED = "established"
    DOWN = "down"
    DISABLED = "disabled"
    UNKNOWN = "unknown"


class EventKind(StrEnum):
    """What happened to a session or a node, or to the level of a prefix."""

    LEFT = "left_established"
    MISSED = "missed_flap"
    UP = "came_up"
    DISABLED = "disabled"
    NODE_WIDE = "node_wide"
    LEVEL = "level"


class Pardon(StrEnum):
    """Why an event weighs nothing."""

    DAEMON_RESTARTED = "daemon_restarted"
    RECONFIGURED = "reconfigured"
    MAINTENANCE = "maintenance"
    NODE_WIDE = "node_wide"
    CLOCK_STEPPED = "clock_stepped"
    OURS = "ours"


class ChangeKind(StrEnum):
    """What became of our best path to a prefix."""

    WITHDRAWN = "withdrawn"
    CHANGED = "changed"
    ANNOUNCED = "announced"


@dataclass(frozen=True, slots=True)
class PrefixChange:
    """One change of our best path to a prefix, however many peers told of it."""

    prefix: str
    kind: ChangeKind
    at: datetime
    #: The best path after it, such as its AS path and the session it came by; empty when withdrawn.
    path: str = ""


@dataclass(frozen=True, slots=True)
class PrefixesHeard:
    """One prefix report as the scores see it; it is told once."""

    taken_at: datetime
    changes: tuple[PrefixChange, ...]
    #: For the rate: how many prefixes changed.
    updates: int
    #: Nobody is charged: a first sight, or a restart of the daemon.
    pardoned: bool = False
    #: Whether all of it came since the report before; else it says nothing of a rate.
    rated: bool = True


@dataclass(frozen=True, slots=True)
class Heard:
    """When a report came, by the server's clock, and through which connection; None: by HTTP."""

    at: datetime
    fencing_token: int | None = None


class FlapQuery(BaseModel):
    """Whose score is to be explained: a session's, a prefix's, or that of the node itself."""

    node: NodeId | None = None
    session: str = Field(default="", max_length=128)
    prefix: str = Field(default="", max_length=64)
    above: int | None = Field(default=None, ge=0, le=12_000, description="Only sessions with a higher score")


class MuteQuery(BaseModel):
    """What is to be muted, or no longer."""

    kind: SubjectKind
    subject: str = Field(
        default="",
        max_length=128,
        description="Name of the session, or the prefix; empty for the node itself",
    )


class MuteForm(MuteQuery):
    """The same from a page, and which sessions it listed."""

    above: int | None = Field(default=None, ge=0, le=12_000)


class FlapRead(BaseModel):
    """The score of one session, prefix or node now."""

    node_id: str
    kind: SubjectKind
    subject: str = Field(description="Name of the session, or the prefix; empty for the node itself")
    level: Level
    score: float = Field(description="Decayed to the instant of this answer")
    state: SessionState | None = Field(default=None, description="Of a session")
    since: datetime | None = Field(default=None, description="Of that state")
    neighbor_asn: int | None = None
    last_error: str = ""
    last_event_at: datetime | None = None
    events: int = Field(default=0, description="Charged events since the score last left zero")
    first_event_at: datetime | None = None
    clears_at: datetime | None = Field(
        default=None, description="When it falls below 750 if nothing more happens; null when stable"
    )
    muted_by: str | None = Field(
        default=None, description="Who muted it until it clears; null when nobody did"
    )
    muted_at: datetime | None = None


class TransitionRead(BaseModel):
    """One thing that happened, as it is kept in SQL."""

    model_config = ConfigDict(from_attributes=True)

    id: int
    node_id: str
    kind: SubjectKind
    subject: str
    event: EventKind
    at: datetime
    weight: int
    before: float = Field(description="Score right before it")
    after: float = Field(description="Score right after it")
    level: Level = Field(description="Level after it")
    reason: str = Field(default="", description="BIRD's words for the error, or why it weighs nothing")
    reason_class: str = Field(default="", description="Class of the error, or code of the pardon")


class CurvePoint(BaseModel):
    """Score at an instant."""

    at: datetime
    score: float


class FlapExplanation(BaseModel):
    """Why a score is what it is."""

    now: FlapRead
    drops: int = Field(description="Charged events in the history below")
    span_seconds: float = Field(description="From the first of them to the last")
    reached_at: datetime | None = Field(default=None, description="When it last reached 3,000")
    history: list[TransitionRead] = Field(description="Oldest first")
    past: list[CurvePoint]
    future: list[CurvePoint] = Field(description="If nothing more happens")
    others_moved: int = Field(description="Other sessions of the node that moved within the same span")


class FlapOverview(BaseModel):
    """Everything that has a score, the highest first."""

    generated_at: datetime
    items: list[FlapRead]
    sessions: int
    prefixes: int
    flapping: int
    noisy: int
    transitions_today: int
    drops_by_subject: dict[str, int] = Field(
        description="Charged events of the last 24 h by `<node>/<kind>/<subject>`"
    )
    source: str = Field(description="`kv`, or `sql` where the tier is absent or away")


class ChartLine(BaseModel):
    """One score over the instants of its chart."""

    label: str
    values: list[float | None]


class FlapChart(BaseModel):
    """Scores over time: what they were, and from `now` on what becomes of them if nothing more happens."""

    at: list[datetime]
    now: datetime
    lines: list[ChartLine]


class RatePoint(BaseModel):
    """Prefix updates of one bucket. A bucket that is missing was not measured; it is not zero."""

    at: datetime
    seconds: float
    updates: int
    withdrawals: int
    changes: int
