"""What a report means: values between the rules, the service and the repository."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum


class Verdict(StrEnum):
    """What is done with a report."""

    TAKE = "take"
    #: It was taken already; only its acknowledgement was lost.
    REPEATED = "repeated"
    #: It builds upon something that is not here: the whole is to be told.
    OUT_OF_STEP = "out_of_step"


class ChangeCause(StrEnum):
    """Why a best path differs from what was known."""

    CHANGE = "change"
    #: The first telling of the whole: nothing was known.
    FIRST_SIGHT = "first_sight"
    #: BIRD began anew, and all of its routes with it.
    DAEMON_RESTART = "daemon_restart"
    #: The whole was told anew: the difference is real, but when it came about is not known.
    RESYNCHRONISED = "resynchronised"


class BestKind(StrEnum):
    """What became of a best path."""

    ANNOUNCED = "announced"
    WITHDRAWN = "withdrawn"
    CHANGED = "changed"


@dataclass(frozen=True, slots=True)
class Known:
    """How far the server is with the tables of a node."""

    stream: str
    sequence: int
    rounds: int
    mark: int
    synchronising: bool
    complete_at: datetime | None
    daemon_started_at: datetime | None


@dataclass(frozen=True, slots=True)
class BestPath:
    """What makes a best path the one it is."""

    protocol: str
    origin: int | None
    path: str
    next_hop: str


@dataclass(frozen=True, slots=True)
class BestChange:
    """One prefix whose best path is another one now."""

    prefix: str
    kind: BestKind
    before: BestPath | None
    after: BestPath | None


@dataclass(frozen=True, slots=True)
class Place:
    """Where a prefix stands among all others."""

    prefix: str
    family: int
    length: int
    lowest: str
