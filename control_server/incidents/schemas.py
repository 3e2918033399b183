"""Kinds of incidents, what they are opened by, and their wire shape."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field


class IncidentKind(StrEnum):
    """What an incident is about."""

    NODE_LOST = "node_lost"
    SESSION_DOWN = "session_down"
    SESSION_FLAPPING = "session_flapping"
    PREFIX_FLAPPING = "prefix_flapping"
    NODE_FLAPPING = "node_flapping"
    DRIFT = "drift"
    APPLY_FAILED = "apply_failed"
    ROUTING_UNAVAILABLE = "routing_unavailable"
    MONITORING_DEGRADED = "monitoring_degraded"
    TUNNEL_SILENT = "tunnel_silent"


class Severity(StrEnum):
    """How much it matters."""

    WARNING = "warning"
    CRITICAL = "critical"


class Wanted(StrEnum):
    """Which incidents are asked for."""

    ALL = "all"
    OPEN = "open"
    #: Open ones that nobody muted.
    COUNTED = "counted"


@dataclass(frozen=True, slots=True)
class Finding:
    """Something that is wrong now; it becomes an incident when it stays so."""

    kind: IncidentKind
    node_id: str
    subject: str
    since: datetime
    severity: Severity = Severity.WARNING
    details: dict[str, Any] = field(default_factory=dict)


class IncidentRead(BaseModel):
    """One incident: the same id from its opening to its closing, and after."""

    model_config = ConfigDict(from_attributes=True)

    id: UUID
    kind: IncidentKind
    node_id: str
    subject: str = Field(description="The session, prefix or tunnel; empty: the node itself")
    severity: Severity
    opened_at: datetime
    closed_at: datetime | None
    began_at: datetime = Field(description="Since when it was so, before it counted as an incident")
    details: dict[str, Any] = {}
    held: bool = Field(default=False, description="Its node is in maintenance, or cannot be seen: it waits")
    muted_at: datetime | None = Field(
        default=None, description="Since when it is not counted, because somebody muted its subject"
    )


class IncidentList(BaseModel):
    """Incidents that are open first, then the latest."""

    items: list[IncidentRead]
    open: int = Field(description="Without those that are muted")
    muted: int = Field(description="Open ones that somebody muted")
