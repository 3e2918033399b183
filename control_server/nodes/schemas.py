"""Wire shapes of nodes."""

from __future__ import annotations

from datetime import datetime
from ipaddress import IPv4Network, IPv6Network
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from shared.protocol.enrolment import NODE_ID_PATTERN

NodeId = Annotated[str, StringConstraints(pattern=NODE_ID_PATTERN, min_length=1, max_length=63)]
_Label = Annotated[str, StringConstraints(pattern=r"^[a-z0-9]([a-z0-9._/-]{0,61}[a-z0-9])?$")]
_LabelValue = Annotated[str, StringConstraints(max_length=128)]


class NodeCreate(BaseModel):
    """A new node."""

    model_config = ConfigDict(extra="forbid")

    node_id: NodeId = Field(description="Your own stable name: lower-case letters, digits and hyphens")
    site: str = Field(default="", max_length=80, description="Where it stands, for people")
    description: str = Field(default="", max_length=500)
    labels: dict[_Label, _LabelValue] = Field(default_factory=dict, max_length=32)
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
    liveness: str = Field(description="online, stale, offline or unknown")
    health: HealthRead
    generation: GenerationRead
    agent: AgentRead | None
    allow_targets: list[str]
    deny_targets: list[str]
    created_at: datetime


class NodeList(BaseModel):
    """Nodes by id."""

    items: list[NodeRead]
    total: int
