"""Shapes of the pages that join features, and of the tiers page's JSON twin."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from pydantic import BaseModel, ConfigDict, Field


class TransitionRead(BaseModel):
    """One change of a breaker."""

    model_config = ConfigDict(from_attributes=True)

    at: datetime
    state: str
    reason: str


class BreakerRead(BaseModel):
    """Whether calls go through, and what happened lately; newest first."""

    model_config = ConfigDict(from_attributes=True)

    state: str
    history: list[TransitionRead]


class DatabaseRead(BaseModel):
    """Keys of one numbered database, whoever owns them."""

    database: int
    keys: int
    expires: int


class FamilyRead(BaseModel):
    """A key family of this service; counts are null where they could not be had."""

    name: str
    pattern: str
    kind: str
    ttl_seconds: float | None
    purpose: str
    loss: str
    keys: int | None = None
    bytes: int | None = None
    without_ttl: int | None = None
    shortest_ttl_seconds: float | None = None
    longest_ttl_seconds: float | None = None


class TierRead(BaseModel):
    """One tier; figures are null where the tier is absent or does not answer."""

    tier: str
    state: str = Field(description="ok, degraded, unavailable, absent, or unknown before the first look")
    configured: bool
    latency_ms: float | None
    version: str | None
    policy: str | None
    hit_rate: float | None = Field(description="Since the server's start, of all its clients")
    evicted_keys: int | None
    used_bytes: int | None
    limit_bytes: int | None
    memory_share: float | None
    keys_without_ttl: int | None = Field(description="keys - expires of this service's database")
    seconds_to_full: float | None
    uptime_seconds: int | None
    problems: list[str]
    databases: list[DatabaseRead]
    families: list[FamilyRead]
    breaker: BreakerRead


class TiersRead(BaseModel):
    """Both tiers."""

    items: list[TierRead]


class Cell(StrEnum):
    """How one session is drawn."""

    UP = "up"
    DOWN = "down"
    UNKNOWN = "unknown"
    MAINTENANCE = "maintenance"


@dataclass(frozen=True, slots=True)
class Configuration:
    """Nodes by whether they run what they should."""

    in_sync: int
    reporting: int
    #: The others, by state.
    others: dict[str, int]


@dataclass(frozen=True, slots=True)
class Flow:
    """Traffic at one point, in bit/s."""

    received: float | None
    sent: float | None
    #: Of what was received, against the period before; None where that is not known.
    change: float | None


@dataclass(frozen=True, slots=True)
class TierGlance:
    """One tier in a word, as the prober of this process saw it last."""

    tier: str
    state: str
    latency_ms: float | None
    memory_share: float | None


@dataclass(frozen=True, slots=True)
class Happened:
    """One line of what happened to a node. `kind`: health, flap, opened or closed."""

    at: datetime
    kind: str
    what: object
