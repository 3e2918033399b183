"""Wire shapes of routing."""

from __future__ import annotations

from datetime import datetime

from pydantic import BaseModel, ConfigDict, Field

from control_server.routing.schemas.changes import BestKind, ChangeCause
from shared.protocol.fleet import Sight
from shared.protocol.reports import Validity


class RpkiRead(BaseModel):
    """Prefixes by origin validation (RFC 6811) of their best routes."""

    valid: int = 0
    invalid: int = 0
    not_found: int = 0
    unchecked: int = Field(default=0, description="Own routes, and those that nobody has looked at")


class CountRead(BaseModel):
    """How many prefixes have this number of something."""

    value: int
    count: int


class PeerRoutingRead(BaseModel):
    """What one protocol of BIRD brings."""

    protocol: str
    received: int = Field(description="Accepted and filtered together")
    accepted: int
    best: int
    filtered: int
    reasons: dict[str, int] = Field(description="Filtered routes by the reason that the filter left on them")


class NodeRoutingRead(BaseModel):
    """The tables of one node in numbers."""

    node_id: str
    sight: Sight
    reason: str = Field(description="Why the tables were not seen at the last look")
    complete: bool = Field(description="The whole was told; before that numbers are too low")
    taken_at: datetime | None = None
    received_at: datetime | None = None
    prefixes4: int = 0
    prefixes6: int = 0
    routes: int = 0
    filtered: int = 0
    rpki: RpkiRead = RpkiRead()
    peers: list[PeerRoutingRead] = []
    lengths4: list[CountRead] = []
    lengths6: list[CountRead] = []
    path_lengths: list[CountRead] = []


class FleetRoutingRead(BaseModel):
    """All tables together; a prefix that ten nodes have is one prefix."""

    nodes: int = Field(description="Nodes whose tables were told as a whole")
    prefixes4: int = 0
    prefixes6: int = 0
    origins: int = 0
    routes: int = Field(default=0, description="Routes on all nodes, each counted where it is")
    filtered: int = 0
    rpki: RpkiRead = RpkiRead()
    as_of: datetime | None = Field(default=None, description="The newest report")


class RouteQuery(BaseModel):
    """Which routes of a node are wanted."""

    model_config = ConfigDict(frozen=True)

    protocol: str | None = Field(default=None, max_length=128)
    origin: int | None = Field(default=None, ge=0, lt=2**32)
    filtered: bool | None = None
    best: bool | None = None
    invalid: bool = Field(default=False, description="Only those that are invalid by their origin")
    within: str | None = Field(default=None, max_length=64, description="Prefixes that lie in this one")
    after: str = Field(default="", max_length=256, description="`next` of the answer before")
    limit: int = Field(default=100, ge=1, le=500)


class RouteRead(BaseModel):
    """One route of one prefix on one node."""

    model_config = ConfigDict(from_attributes=True)

    node_id: str
    prefix: str
    protocol: str
    best: bool
    filtered: bool
    reason: int | None
    reason_name: str | None = Field(default=None, description="The reason's code in words")
    origin: int | None
    origin_name: str | None = None
    path: str
    hops: int | None
    validity: Validity
    next_hop: str
    local_pref: int | None
    since: datetime | None


class RouteList(BaseModel):
    """Routes in the order of their prefixes."""

    items: list[RouteRead]
    next: str | None = Field(default=None, description="Give it as `after` for what follows")


class ChangeRead(BaseModel):
    """What became of the best path of a prefix."""

    model_config = ConfigDict(from_attributes=True)

    node_id: str
    prefix: str
    at: datetime
    kind: BestKind
    cause: ChangeCause
    before_protocol: str | None
    before_path: str | None
    before_origin: int | None
    after_protocol: str | None
    after_path: str | None
    after_origin: int | None


class PrefixSummary(BaseModel):
    """A prefix over all nodes."""

    prefix: str
    nodes: int = Field(description="Nodes that have a best route for it")
    origins: list[int]
    validity: Validity = Field(description="The worst of all nodes")


class PrefixList(BaseModel):
    """Prefixes in the order of their addresses."""

    items: list[PrefixSummary]
    more: bool = Field(default=False, description="There are more than are shown")


class PrefixRead(BaseModel):
    """Everything that is known of one prefix."""

    prefix: str
    summary: PrefixSummary | None = Field(description="null where no node has it now")
    routes: list[RouteRead]
    missing: list[str] = Field(description="Nodes whose tables are known and do not have it")
    covering: list[PrefixSummary] = Field(description="Less specific prefixes, the longest first")
    covered: PrefixList
    history: list[ChangeRead]
    names: dict[int, str] = Field(description="Names of the autonomous systems, where the registry has one")


class OriginSummary(BaseModel):
    """An autonomous system that originates prefixes."""

    asn: int
    name: str | None = None
    prefixes4: int
    prefixes6: int
    nodes: int
    invalid: int


class OriginList(BaseModel):
    """Origins, those of most prefixes first."""

    items: list[OriginSummary]
    total: int


class OriginRead(BaseModel):
    """One origin with its prefixes."""

    asn: int
    name: str | None
    prefixes: PrefixList
    filtered: list[RouteRead] = Field(description="Its routes that filters refused, at most 100")
