"""Wire shapes of nodes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from ipaddress import IPv4Network, IPv6Address, IPv6Network
from typing import Annotated, NamedTuple

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, StringConstraints

from control_server.policy.schemas import FactForm
from shared.protocol.desired_state.names import (
    Asn,
    Host,
    LinkLocal,
    Loopback4,
    Loopback6,
    Own4,
    Own6,
    RouterId,
)
from shared.protocol.desired_state.node import AnycastInterface, KernelOptions, LogOptions, StaticRoute
from shared.protocol.enrolment import NODE_ID_PATTERN

NodeId = Annotated[str, StringConstraints(pattern=NODE_ID_PATTERN, min_length=1, max_length=63)]
_Label = Annotated[str, StringConstraints(pattern=r"^[a-z0-9]([a-z0-9._/-]{0,61}[a-z0-9])?$")]
_LabelValue = Annotated[str, StringConstraints(max_length=128)]


class RoutingFacts(BaseModel):
    """What a node routes with. All of it may be left for later; without an AS number nothing is published."""

    model_config = ConfigDict(extra="forbid")

    asn: Asn | None = None
    number: int | None = Field(
        default=None, ge=1, le=65_535, description="Names the node in communities; given out when left empty"
    )
    router_id: RouterId | None = Field(default=None, description="By default the IPv4 loopback")
    hostname: str = Field(default="", max_length=253, pattern=r"^[A-Za-z0-9.-]*$")
    loopback4: Loopback4 | None = Field(default=None, description="Given out from a pool when left empty")
    loopback6: Loopback6 | None = Field(default=None, description="Given out from a pool when left empty")
    prefixes4: list[Own4] = Field(default_factory=list, max_length=64, description="What it originates")
    prefixes6: list[Own6] = Field(default_factory=list, max_length=64)
    proof4: IPv4Network | None = Field(default=None, description="An own prefix that has a ROA")
    proof6: IPv6Network | None = None
    region: int = Field(default=0, ge=0, le=70, description="dn42 region, 41 to 70; 0 is unset")
    country: int = Field(default=0, ge=0, le=1999, description="dn42 country, 1000 + ISO 3166-1; 0 is unset")
    link_local: LinkLocal = Field(
        default=IPv6Address("fe80::1"), description="Its address on all tunnels to other networks"
    )
    endpoint: Host = Field(
        default="",
        max_length=253,
        pattern=r"^[A-Za-z0-9.:-]*$",
        description="Name or address at which tunnels reach it",
    )
    kernel: KernelOptions = KernelOptions()
    log: LogOptions = LogOptions()
    static_routes: list[StaticRoute] = Field(default_factory=list, max_length=1024)
    anycast: list[AnycastInterface] = Field(default_factory=list, max_length=64)


class Lifecycle(StrEnum):
    """Where a node is in its life."""

    PENDING = "pending"
    ACTIVE = "active"
    DRAINING = "draining"
    DECOMMISSIONED = "decommissioned"


class Maintenance(BaseModel):
    """A node that is drained for a while."""

    model_config = ConfigDict(extra="forbid")

    reason: str = Field(default="", max_length=200)
    until: AwareDatetime | None = Field(default=None, description="When it is expected back, for people")


class MaintenanceRead(Maintenance):
    """Since when, and by whom."""

    since: datetime
    by: str


class NodeUpdate(BaseModel):
    """Changes of a node; what is left out stays. Inside `routing`, too, only what is named changes."""

    model_config = ConfigDict(extra="forbid")

    site: str | None = Field(default=None, max_length=80)
    description: str | None = Field(default=None, max_length=500)
    labels: dict[_Label, _LabelValue] | None = Field(default=None, max_length=32)
    lifecycle: Lifecycle | None = None
    allow_targets: list[IPv4Network | IPv6Network] | None = Field(default=None, max_length=64)
    deny_targets: list[IPv4Network | IPv6Network] | None = Field(default=None, max_length=64)
    routing: RoutingFacts | None = None


class NodeFactsRead(BaseModel):
    """The facts of a node as operators wrote them."""

    node_id: str
    version: int = Field(description="Send it as `If-Match` when you change them")
    site: str
    description: str
    labels: dict[str, str]
    lifecycle: Lifecycle
    maintenance: MaintenanceRead | None
    allow_targets: list[str]
    deny_targets: list[str]
    routing: RoutingFacts
    generation: int = Field(description="The newest generation; 0: none yet")


class NodeCreate(BaseModel):
    """A new node."""

    model_config = ConfigDict(extra="forbid")

    node_id: NodeId = Field(description="Your own stable name: lower-case letters, digits and hyphens")
    site: str = Field(default="", max_length=80, description="Where it stands, for people")
    description: str = Field(default="", max_length=500)
    labels: dict[_Label, _LabelValue] = Field(default_factory=dict, max_length=32)
    routing: RoutingFacts | None = Field(default=None, description="What it routes with; may come later")
    allow_targets: list[IPv4Network | IPv6Network] = Field(default_factory=list, max_length=64)
    deny_targets: list[IPv4Network | IPv6Network] = Field(default_factory=list, max_length=64)


class AgentRead(BaseModel):
    """The agent of a node."""

    version: str
    hostname: str
    enrolled_at: datetime
    connected_at: datetime | None
    last_seen_at: datetime | None
    tools: dict[str, str] = Field(description="Probe tools on the node and their versions")
    load: tuple[float, float, float] | None = None
    uptime_seconds: float | None = None
    memory_used_bytes: int | None = None
    memory_total_bytes: int | None = None
    key_fingerprint: str = Field(description="SHA-256 of the identity key")


class HealthRead(BaseModel):
    """State of a node with its reasons."""

    state: str = Field(description="ok, degraded, stale, down, unknown or maintenance")
    reasons: list[str] = Field(description="Codes, worst first")
    since: datetime | None = None
    established: int | None = Field(default=None, description="BGP sessions that are established")
    sessions: int | None = Field(default=None, description="BGP sessions in all; null: nobody has looked")


class GenerationRead(BaseModel):
    """Generation that the node should run, and the one that it runs."""

    desired: int | None = None
    applied: int | None = None


class NodeRead(BaseModel):
    """A node with what is known of it now."""

    node_id: str
    site: str
    description: str
    labels: dict[str, str]
    lifecycle: str
    asn: int | None = Field(default=None, description="null: nothing is published for it yet")
    router_id: str | None = Field(default=None, description="As it is set, else the IPv4 loopback")
    loopback4: str | None = None
    loopback6: str | None = None
    liveness: str = Field(description="online, stale, offline or unknown")
    health: HealthRead
    generation: GenerationRead
    agent: AgentRead | None
    allow_targets: list[str]
    deny_targets: list[str]
    maintenance: MaintenanceRead | None = None
    created_at: datetime


class NodeList(BaseModel):
    """Nodes by id."""

    items: list[NodeRead]
    total: int


@dataclass(frozen=True, slots=True)
class NodeQuery:
    """Which nodes a page of the list shows; every word of `words` is to be found in a node."""

    words: str = ""
    state: str = ""
    sort: str = "state"
    page: int = 1


class Listed(NamedTuple):
    """What a node is found and ordered by."""

    node_id: str
    site: str
    description: str
    labels: Mapping[str, str]
    state: str
    seen: datetime | None


@dataclass(frozen=True, slots=True)
class NodePage:
    """Some of the nodes that were found, and how many there are."""

    items: Sequence[NodeRead]
    #: The number of the first of them, from 1.
    first: int
    page: int
    pages: int
    #: Nodes that were found.
    found: int
    #: Nodes that have the words, by state, whichever state was asked for.
    states: Mapping[str, int]
    total: int


class SettingsForm(FactForm):
    """The form of a node's settings as it was typed."""

    site: str = ""
    description: str = ""
    #: A line for each label: its name, an equals sign, its value.
    labels: str = ""
    allow_targets: str = ""
    deny_targets: str = ""
    asn: str = ""
    number: str = ""
    router_id: str = ""
    hostname: str = ""
    loopback4: str = ""
    loopback6: str = ""
    prefixes4: str = ""
    prefixes6: str = ""
    proof4: str = ""
    proof6: str = ""
    region: str = ""
    country: str = ""
    link_local: str = ""
    endpoint: str = ""


class MaintenanceForm(BaseModel):
    """The form that drains a node as it was typed."""

    reason: str = ""
    #: An instant in UTC as a browser writes it, without a zone.
    until: str = ""


class LifecycleForm(FactForm):
    """The form that takes a node out of service, or back into it."""

    lifecycle: str = ""
