"""Wire shapes of health, and the facts that it is judged by."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from control_server.flaps.schemas import SessionState


class State(StrEnum):
    """How a node, or one part of it, is. `unknown` is not `down`."""

    OK = "ok"
    DEGRADED = "degraded"
    STALE = "stale"
    DOWN = "down"
    UNKNOWN = "unknown"
    MAINTENANCE = "maintenance"


class PartName(StrEnum):
    """What the health of a node is made of."""

    LINK = "link"
    CONFIGURATION = "configuration"
    ROUTING = "routing"
    HOST = "host"


class Reason(BaseModel):
    """Why; `detail` is in the words of whoever said it, `count` where there are several."""

    code: str
    detail: str = ""
    count: int = 1


class PartHealth(BaseModel):
    """One part of a node."""

    part: PartName
    state: State
    reasons: list[Reason] = []
    since: datetime | None = None


class SessionCounts(BaseModel):
    """BGP sessions by state."""

    established: int = 0
    down: int = 0
    disabled: int = 0
    unknown: int = 0

    @property
    def total(self) -> int:
        """All of them."""
        return self.established + self.down + self.disabled + self.unknown


class SessionHealth(BaseModel):
    """One BGP session as it was seen last."""

    name: str
    state: SessionState
    since: datetime | None = None
    neighbor_asn: int | None = None
    neighbor_address: str = ""
    #: Between nodes of the own network.
    internal: bool = False
    error: str = ""
    error_class: str = ""
    imported: int | None = None
    filtered: int | None = None
    exported: int | None = None


class NodeHealth(BaseModel):
    """How a node is, part by part, with reasons and since when."""

    node_id: str
    site: str = ""
    state: State
    reasons: list[Reason] = Field(description="Of every part that is not well, worst first")
    since: datetime | None = None
    liveness: str = Field(description="online, stale, offline or unknown")
    parts: list[PartHealth]
    sessions: SessionCounts
    maintenance_reason: str | None = None
    observed_at: datetime | None = Field(default=None, description="When its sessions were last looked at")
    session_list: list[SessionHealth] = Field(
        default=[], description="Every session, worst first; only when one node is asked for"
    )


class Issue(BaseModel):
    """One thing that needs a person."""

    kind: str = Field(description="Such as session_down, drift, agent_offline, apply_failed")
    node_id: str
    subject: str = Field(default="", description="The session or tunnel; empty: the node itself")
    state: State = Field(description="How bad it is")
    since: datetime | None
    detail: str = ""
    muted: bool = Field(default=False, description="Its node is in maintenance")


class FleetHealth(BaseModel):
    """The whole fleet."""

    generated_at: datetime
    total: int
    counts: dict[State, int]
    online: int
    sessions: SessionCounts
    nodes: list[NodeHealth] = Field(description="Worst first")
    issues: list[Issue] = Field(description="Worst first; those of nodes in maintenance last")


class HealthChange(BaseModel):
    """A change that is kept."""

    model_config = ConfigDict(from_attributes=True)

    id: int
    node_id: str
    part: str = Field(description="overall, link, configuration, routing or host")
    before: State
    after: State
    reasons: list[dict[str, Any]]
    at: datetime


class ApplyFacts(BaseModel):
    """What became of the newest generation that was tried."""

    generation: int
    status: str
    detail: str = ""
    at: datetime


class DriftFacts(BaseModel):
    """What differs from what should run; what is only worth knowing is not counted."""

    count: int
    first: str = ""
    since: datetime


class TunnelFacts(BaseModel):
    """A tunnel that is silent although something is expected of it."""

    interface: str
    since: datetime | None = None


class RoutingFacts(BaseModel):
    """What the last snapshot says."""

    taken_at: datetime
    received_at: datetime
    seen: bool
    reason: str = ""
    #: Since when BIRD does not answer, where it does not.
    unseen_since: datetime | None = None
    counts: SessionCounts = SessionCounts()
    foreign: int = 0
    #: Sessions that are down, own ones first; at most as many as a page shows.
    fallen: list[SessionHealth] = []
    silent: list[TunnelFacts] = []
    #: Bytes sent by interface, to know next time whether something was to be heard.
    sent: dict[str, int] = {}


class ReportFacts(BaseModel):
    """What is kept of a node's reports to judge it by."""

    apply: ApplyFacts | None = None
    drift: DriftFacts | None = None
    routing: RoutingFacts | None = None


class Stood(BaseModel):
    """How the node or a part of it stood at the last look."""

    state: State
    since: datetime
    reasons: list[Reason] = []


@dataclass(frozen=True, slots=True)
class NodeView:
    """Everything that a node is judged by."""

    node_id: str
    site: str
    desired: int
    changed_at: datetime
    maintenance_reason: str | None
    maintenance_since: datetime | None
    liveness: str
    heard_at: datetime | None
    connected_at: datetime | None
    memory_share: float | None
    facts: ReportFacts
    stood: dict[str, Stood]
    #: Whether it was given a network to route for; of one that was not, only a BIRD with sessions is missed.
    routes: bool = True
