"""What operations of a tier answer when one value is not enough."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import Any


@dataclass(frozen=True, slots=True)
class Counted:
    """A counter and when it ends."""

    value: int
    ttl_seconds: float


class TakeOutcome(IntEnum):
    """What a single-use value was found to be."""

    ABSENT = -1
    REPLAYED = 0
    TAKEN = 1


@dataclass(frozen=True, slots=True)
class Taken:
    """A single-use value: to who takes it first, and as what it was to who comes later."""

    outcome: TakeOutcome
    value: Any = None
