"""Words of probes that server, agent and readers share."""

from __future__ import annotations

from enum import StrEnum
from ipaddress import IPv4Network, IPv6Network
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field


class Tool(StrEnum):
    """What a node can be asked to run."""

    PING = "ping"
    TRACEROUTE = "traceroute"
    MTR = "mtr"


class OutputStream(StrEnum):
    """Where a line comes from; `note` is a word of the agent or the server, not of the tool."""

    STDOUT = "stdout"
    STDERR = "stderr"
    NOTE = "note"


class ProbeState(StrEnum):
    """Life of a probe, and of its share on each node."""

    ACCEPTED = "accepted"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"
    EXPIRED = "expired"

    @property
    def final(self) -> bool:
        """Whether nothing can follow."""
        return self not in {ProbeState.ACCEPTED, ProbeState.RUNNING}


class ProbeReason(StrEnum):
    """Why a probe ended otherwise than well, or was never started."""

    AGENT_LOST = "agent_lost"
    NOT_STARTED = "not_started"
    DEADLINE = "deadline"
    OUTPUT_LIMIT = "output_limit"
    TOOL_FAILED = "tool_failed"
    TOOL_MISSING = "tool_missing"
    TARGET_REFUSED = "target_refused"
    TARGET_UNRESOLVED = "target_unresolved"
    BUSY = "busy"
    CANCELLED = "cancelled"
    SERVER_RESTARTED = "server_restarted"
    NODE_OFFLINE = "node_offline"


class ProbeOptions(BaseModel):
    """What may be varied; no option reaches the tool as text of the caller."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    family: Literal[4, 6] | None = Field(
        default=None, description="Address family; by default that of the target, IPv6 preferred for a name"
    )
    count: int | None = Field(default=None, ge=1, le=100, description="Echo requests, or cycles of mtr")
    max_hops: int | None = Field(default=None, ge=1, le=64, description="Greatest hop limit of a trace")


class ProbeLimits(BaseModel):
    """Bounds of one probe on one node."""

    model_config = ConfigDict(frozen=True)

    seconds: float = Field(default=60, gt=0, description="From start to kill")
    lines: int = Field(default=4000, gt=0)
    line_bytes: int = Field(default=4096, gt=0)
    total_bytes: int = Field(default=1_048_576, gt=0)


class TargetRules(BaseModel):
    """Which addresses may be probed. `allow` wins over `deny`; what neither names is allowed."""

    model_config = ConfigDict(frozen=True)

    allow: tuple[IPv4Network | IPv6Network, ...] = ()
    deny: tuple[IPv4Network | IPv6Network, ...] = ()
