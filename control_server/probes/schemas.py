"""Shapes of probes: what clients send and read, and what passes between the parts of this feature."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Annotated, Any
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from shared.protocol.probes import (
    OutputStream,
    ProbeLimits,
    ProbeOptions,
    ProbeReason,
    ProbeState,
    TargetRules,
    Tool,
)

_NodeId = Annotated[str, StringConstraints(min_length=1, max_length=63)]


class ProbeCreate(BaseModel):
    """Run a tool. A re-run is simply the same request again."""

    model_config = ConfigDict(extra="forbid")

    nodes: list[_NodeId] = Field(min_length=1, max_length=500, description="Ids of the nodes to run it on")
    tool: Tool
    #: Longer than any name, so that the refusal can say what is wrong.
    target: str = Field(max_length=4096, description="Address, or host name that each node resolves itself")
    options: ProbeOptions = Field(default_factory=ProbeOptions)


class ProbeStarted(BaseModel):
    """A new probe, and where to follow it."""

    id: UUID
    state: ProbeState
    stream: str = Field(description="Path of the event stream")


class ActorRead(BaseModel):
    """Who started it."""

    kind: str
    id: str
    name: str


class LineRead(BaseModel):
    """One line of output; `seq` counts over all nodes of the probe."""

    model_config = ConfigDict(from_attributes=True)

    seq: int
    node: str
    stream: OutputStream
    text: str


class ShareRead(BaseModel):
    """What one node makes of the probe."""

    node: str
    state: ProbeState
    reason: ProbeReason | None
    detail: str
    exit_code: int | None
    command: str
    address: str
    summary: dict[str, Any] | None = Field(description="Parsed result, beside the raw lines")
    truncated: bool = Field(description="Output beyond the limits was not kept")
    accepted_lines: int = Field(description="Lines that the server has taken")
    archived_lines: int = Field(description="Lines that are stored for good")
    started_at: datetime | None
    finished_at: datetime | None


class ProbeSummary(BaseModel):
    """A probe without its lines."""

    id: UUID
    state: ProbeState
    reason: ProbeReason | None
    tool: Tool
    target: str
    options: ProbeOptions
    created_by: ActorRead
    created_at: datetime
    started_at: datetime | None
    cancelled_at: datetime | None = Field(description="When somebody asked to cancel it")
    finished_at: datetime | None
    epoch: str
    stream: str
    nodes: list[ShareRead]
    complete: bool = Field(description="False when lines may be missing, see `missing`")
    missing: str | None = Field(description="What is missing and why, for people")


class ProbeRead(ProbeSummary):
    """A probe with every line that is still known."""

    lines: list[LineRead]


class ProbePage(BaseModel):
    """Newest first; `next` asks for the following page."""

    items: list[ProbeSummary]
    next: str | None = Field(default=None, description="Give as `cursor` to go on; null at the end")


class ProbeFilter(BaseModel):
    """Which probes to list; everything is optional."""

    state: ProbeState | None = None
    tool: Tool | None = None
    node: str = Field(default="", max_length=63)
    target: str = Field(default="", max_length=253)
    by: str = Field(default="", max_length=128, description="Id of who started it")


@dataclass(frozen=True, slots=True)
class NodeFacts:
    """What decides whether a node can run a tool now."""

    node_id: str
    connected: bool
    tools: frozenset[str]
    targets: TargetRules
    running: int


@dataclass(frozen=True, slots=True)
class ProbeJob:
    """What the relay needs to know of a probe."""

    id: UUID
    epoch: str
    nodes: tuple[str, ...]
    #: Limits of each node's share.
    each: ProbeLimits
    viewers: int
    #: False: refuse what comes after the limit. True (logs): forget the oldest lines, readers get a gap.
    drop_oldest: bool = False


@dataclass(frozen=True, slots=True)
class Line:
    """One line in the numbering of its probe."""

    seq: int
    node: str
    stream: OutputStream
    text: str


@dataclass(frozen=True, slots=True)
class Outcome:
    """How the share of one node ended."""

    state: ProbeState
    reason: ProbeReason | None = None
    detail: str = ""
    exit_code: int | None = None
    summary: dict[str, Any] | None = None
    truncated: bool = False


@dataclass(frozen=True, slots=True)
class Ending:
    """How the whole probe ended."""

    state: ProbeState
    reason: ProbeReason | None = None


@dataclass(frozen=True, slots=True)
class Tally:
    """What was taken of one node's share so far."""

    #: The agent's own number of the last line that was looked at.
    agent_seq: int = 0
    lines: int = 0
    taken_bytes: int = 0
    truncated: bool = False


@dataclass(frozen=True, slots=True)
class Appended:
    """What became of a batch of lines."""

    #: The agent's own number up to which nothing needs to be sent again.
    stored_seq: int
    #: A limit was passed with this batch: the share must end now.
    over_limit: bool = False


@dataclass(frozen=True, slots=True)
class Closed:
    """A share that takes no more lines: the outcome that was first, and its counts."""

    outcome: Outcome
    #: None when the probe is no longer held, so nobody knows.
    accepted_lines: int | None
    truncated: bool


@dataclass(frozen=True, slots=True)
class Snapshot:
    """Lines of a probe after some number, as they are now."""

    lines: tuple[Line, ...]
    last_seq: int
    ending: Ending | None
    accepted: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Position:
    """The last event that a reader has seen."""

    epoch: str
    seq: int


@dataclass(frozen=True, slots=True)
class Event:
    """One event for readers. Only `output` and `done` have a number."""

    name: str
    data: dict[str, Any]
    seq: int | None = None
