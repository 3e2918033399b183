"""Frames of the agent's WebSocket, both directions, version 1.

JSON text frames with a `type`. A receiver ignores and counts types that it does not know and fields
that it does not know, so agents and servers upgrade in any order. Close codes: see `CloseCode`.
"""

from __future__ import annotations

from datetime import datetime
from enum import IntEnum, StrEnum
from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import Field, TypeAdapter, model_validator

from shared.protocol.base import Frame
from shared.protocol.fleet import ApplyResult, NodeKeys, ReconciliationReport, RuntimeSnapshot
from shared.protocol.probes import (
    OutputStream,
    ProbeLimits,
    ProbeOptions,
    ProbeReason,
    TargetRules,
    Tool,
)
from shared.protocol.reports import PrefixAcknowledged, PrefixReport, TrafficSample

PROTOCOL_VERSION = 1
#: Greatest frame in bytes, either way; a longer one is answered with close code 4413.
MAX_FRAME_BYTES = 4_194_304
#: Lines in one `probe_output` frame.
MAX_BATCH_LINES = 50


class CloseCode(IntEnum):
    """Application close codes of the agent socket (RFC 6455, section 7.4.2)."""

    UNAUTHENTICATED = 4401
    FORBIDDEN = 4403
    PROTOCOL = 4400
    REPLACED = 4409
    FRAME_TOO_LARGE = 4413
    THROTTLED = 4429
    TRY_AGAIN = 1013
    GOING_AWAY = 1001


class ApplyStatus(StrEnum):
    """How the last pass over the desired state ended."""

    NONE = "none"
    APPLIED = "applied"
    PENDING = "pending"
    FAILED = "failed"
    PAUSED = "paused"


# --- agent to server -----------------------------------------------------------------------------


class Capabilities(Frame):
    """What this node can do. A missing tool is a missing capability, not a failure."""

    tools: dict[str, str] = Field(default_factory=dict, description="Tool to its version text")


class AgentHello(Frame):
    """First frame of the agent."""

    type: Literal["hello"] = "hello"
    protocol: int = PROTOCOL_VERSION
    agent_version: str = Field(max_length=64)
    boot_id: str = Field(default="", max_length=64, description="Changes when the host restarts")
    capabilities: Capabilities = Field(default_factory=Capabilities)
    #: None: an agent that routes nothing, or one from before keys.
    keys: NodeKeys | None = None


class Heartbeat(Frame):
    """The agent's own word that it works, every 30 s."""

    type: Literal["heartbeat"] = "heartbeat"
    agent_version: str = Field(max_length=64)
    applied_generation: int | None = None
    apply_status: ApplyStatus = ApplyStatus.NONE
    uptime_seconds: float = Field(ge=0)
    load: tuple[float, float, float] = (0.0, 0.0, 0.0)
    memory_used_bytes: int = Field(default=0, ge=0)
    memory_total_bytes: int = Field(default=0, ge=0)
    running_probes: int = Field(default=0, ge=0)


class ProbeAccepted(Frame):
    """The agent has started the tool."""

    type: Literal["probe_accepted"] = "probe_accepted"
    probe_id: UUID
    command: str = Field(default="", max_length=1024, description="What runs, for people to read")
    address: str = Field(default="", max_length=64, description="The literal address that the name gave")


class OutputLine(Frame):
    """One line. `seq` counts from 1 for each probe on each node, so a repeated batch changes nothing."""

    seq: int = Field(ge=1)
    stream: OutputStream = OutputStream.STDOUT
    text: str


class ProbeOutput(Frame):
    """A batch of lines, in order; a single line may stand in the frame itself."""

    type: Literal["probe_output"] = "probe_output"
    probe_id: UUID
    lines: tuple[OutputLine, ...] = Field(min_length=1, max_length=MAX_BATCH_LINES)

    @model_validator(mode="before")
    @classmethod
    def _single_line(cls, data: Any) -> Any:
        if isinstance(data, dict) and "lines" not in data and "text" in data:
            line = {key: data[key] for key in ("seq", "stream", "text") if key in data}
            return {**data, "lines": [line]}
        return data


class ProbeDone(Frame):
    """The tool has ended and its pipes are drained; nothing follows for this probe."""

    type: Literal["probe_done"] = "probe_done"
    probe_id: UUID
    exit_code: int | None = None
    error: ProbeReason | None = None
    detail: str = Field(default="", max_length=1024)
    last_seq: int = Field(default=0, ge=0)
    truncated: bool = False
    summary: dict[str, Any] | None = None


class Pong(Frame):
    """Answer to `ping`."""

    type: Literal["pong"] = "pong"
    nonce: str = Field(default="", max_length=64)


AgentFrame = Annotated[
    AgentHello
    | Heartbeat
    | ProbeAccepted
    | ProbeOutput
    | ProbeDone
    | Pong
    | ApplyResult
    | ReconciliationReport
    | RuntimeSnapshot
    | TrafficSample
    | PrefixReport,
    Field(discriminator="type"),
]
AGENT_FRAME: TypeAdapter[AgentFrame] = TypeAdapter(AgentFrame)
AGENT_FRAME_TYPES = frozenset(
    {
        *("hello", "heartbeat", "probe_accepted", "probe_output", "probe_done", "pong"),
        *("apply_result", "reconciliation_report", "runtime_snapshot"),
        *("traffic_sample", "prefix_report"),
    }
)

# --- server to agent -----------------------------------------------------------------------------


class ServerHello(Frame):
    """First frame of the server."""

    type: Literal["hello"] = "hello"
    protocol: int = PROTOCOL_VERSION
    server_version: str
    node_id: str
    heartbeat_seconds: float = 30
    #: Grows with every accepted socket of the node; an older socket can no longer change anything.
    fencing_token: int
    server_time: datetime


class ProbeStart(Frame):
    """Run a tool."""

    type: Literal["probe_start"] = "probe_start"
    probe_id: UUID
    tool: Tool
    target: str = Field(max_length=253)
    options: ProbeOptions = Field(default_factory=ProbeOptions)
    limits: ProbeLimits = Field(default_factory=ProbeLimits)
    targets: TargetRules = Field(default_factory=TargetRules)


class ProbeCancel(Frame):
    """Stop a tool; the agent answers with `probe_done`."""

    type: Literal["probe_cancel"] = "probe_cancel"
    probe_id: UUID


class ProbeStored(Frame):
    """Lines up to `seq` are stored; the agent may forget them."""

    type: Literal["probe_stored"] = "probe_stored"
    probe_id: UUID
    seq: int
    #: The end is stored too, so the agent may forget the whole probe.
    final: bool = False


class ProbeRefused(Frame):
    """Lines or the end of this probe are not accepted; the agent stops and forgets it."""

    type: Literal["probe_refused"] = "probe_refused"
    probe_id: UUID
    code: str
    detail: str = ""


class DesiredStateUpdated(Frame):
    """Doorbell: something changed, pull."""

    type: Literal["desired_state_updated"] = "desired_state_updated"
    generation: int


class SnapshotRequest(Frame):
    """Send a snapshot now."""

    type: Literal["snapshot_request"] = "snapshot_request"


class Ping(Frame):
    """Ask whether the agent's own loop turns."""

    type: Literal["ping"] = "ping"
    nonce: str = ""


class Goodbye(Frame):
    """The server is going away; come back after about this long."""

    type: Literal["goodbye"] = "goodbye"
    retry_after_seconds: float = 1


class ErrorFrame(Frame):
    """A frame was refused; the connection goes on."""

    type: Literal["error"] = "error"
    code: str
    detail: str
    ref: str = Field(default="", description="Type of the frame that was refused")


ServerFrame = Annotated[
    ServerHello
    | ProbeStart
    | ProbeCancel
    | ProbeStored
    | ProbeRefused
    | DesiredStateUpdated
    | SnapshotRequest
    | PrefixAcknowledged
    | Ping
    | Goodbye
    | ErrorFrame,
    Field(discriminator="type"),
]
SERVER_FRAME: TypeAdapter[ServerFrame] = TypeAdapter(ServerFrame)
SERVER_FRAME_TYPES = frozenset(
    {
        "hello",
        "probe_start",
        "probe_cancel",
        "probe_stored",
        "probe_refused",
        "desired_state_updated",
        "snapshot_request",
        "prefix_acknowledged",
        "ping",
        "goodbye",
        "error",
    }
)
