"""What an agent says of its node beside probes: keys, results of applying, what runs, what differs."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import Literal

from pydantic import Field

from shared.protocol.base import Frame

_WORDS = 1024
_NAME = 128
_MANY = 8192


class NodeKeys(Frame):
    """Public halves of the node's keys, base64 (RFC 7748)."""

    wireguard: str = Field(max_length=64, description="Public key of all tunnels of the node")
    sealing: str = Field(max_length=64, description="Secrets for the node are sealed to this")


class ApplyState(StrEnum):
    """How a pass over the desired state ended."""

    APPLIED = "applied"
    FAILED = "failed"
    #: Not tried, or not finished: it is tried again without anybody's doing.
    PENDING = "pending"
    PAUSED = "paused"


class ApplyError(Frame):
    """One thing that went wrong, with the step in which it did."""

    step: str = Field(max_length=_NAME)
    code: str = Field(max_length=_NAME)
    detail: str = Field(max_length=_WORDS)


class ApplyResult(Frame):
    """What became of a generation. `applied` means that the running configuration was read back and is it."""

    type: Literal["apply_result"] = "apply_result"
    generation: int
    sha256: str = Field(default="", max_length=64)
    status: ApplyState
    #: `RL_CONFIG` of what runs now, be it the wanted one or not.
    running: str | None = Field(default=None, max_length=_NAME)
    actions: tuple[str, ...] = Field(default=(), max_length=_MANY)
    errors: tuple[ApplyError, ...] = Field(default=(), max_length=64)
    #: Options that this node's BIRD does not know.
    unsupported: tuple[str, ...] = Field(default=(), max_length=256)
    started_at: datetime
    finished_at: datetime


class Sight(StrEnum):
    """Whether something was looked at: what is not seen is not down."""

    OBSERVED = "observed"
    #: It was looked for, and the one that knows did not answer.
    UNAVAILABLE = "unavailable"
    #: Nobody looked.
    NOT_OBSERVED = "not_observed"


class InterfaceState(Frame):
    """A network interface."""

    name: str = Field(max_length=_NAME)
    kind: str = Field(default="", max_length=_NAME)
    up: bool
    mtu: int = 0
    addresses: tuple[str, ...] = Field(default=(), max_length=1024)


class TunnelState(Frame):
    """A WireGuard tunnel with one peer."""

    interface: str = Field(max_length=_NAME)
    peer_public_key: str = Field(max_length=64)
    listen_port: int = 0
    endpoint: str | None = Field(default=None, max_length=300)
    #: None: never, or not known.
    latest_handshake: datetime | None = None
    received_bytes: int = 0
    sent_bytes: int = 0
    keepalive: int | None = None


class ChannelState(Frame):
    """One address family of a protocol. Counts are None while BIRD shows none; that is not zero."""

    name: str = Field(max_length=_NAME)
    state: str = Field(default="", max_length=_NAME)
    imported: int | None = None
    filtered: int | None = None
    exported: int | None = None
    preferred: int | None = None
    limit_hit: bool = False
    #: Since the session came up; it goes back only when the session did. None where BIRD does not count.
    updates_received: int | None = None


class ProtocolState(Frame):
    """A protocol of BIRD, be it a BGP session or another."""

    name: str = Field(max_length=_NAME)
    kind: str = Field(max_length=_NAME)
    state: str = Field(max_length=_NAME)
    info: str = Field(default="", max_length=_WORDS)
    since: datetime | None = None
    since_precision_seconds: float = 0
    bgp_state: str | None = Field(default=None, max_length=_NAME)
    error: str = Field(default="", max_length=_WORDS)
    error_class: str | None = Field(default=None, max_length=_NAME)
    neighbor_address: str = Field(default="", max_length=_NAME)
    neighbor_asn: int | None = None
    channels: tuple[ChannelState, ...] = Field(default=(), max_length=64)


class BfdState(Frame):
    """A BFD session."""

    address: str = Field(max_length=_NAME)
    interface: str = Field(default="", max_length=_NAME)
    state: str = Field(max_length=_NAME)


class OspfState(Frame):
    """An OSPF adjacency."""

    protocol: str = Field(max_length=_NAME)
    router_id: str = Field(max_length=_NAME)
    state: str = Field(max_length=_NAME)
    interface: str = Field(default="", max_length=_NAME)


class Part(Frame):
    """Whether one part of the node was seen, and why not."""

    sight: Sight = Sight.NOT_OBSERVED
    reason: str = Field(default="", max_length=_WORDS)


class RuntimeSnapshot(Frame):
    """What runs on the node."""

    type: Literal["runtime_snapshot"] = "runtime_snapshot"
    taken_at: datetime
    bird_version: str | None = Field(default=None, max_length=_NAME)
    bird_started_at: datetime | None = Field(default=None, description="When the daemon was started")
    running: str | None = Field(default=None, max_length=_NAME, description="`RL_CONFIG` of what runs")
    links: Part = Part()
    interfaces: tuple[InterfaceState, ...] = Field(default=(), max_length=_MANY)
    tunnels: tuple[TunnelState, ...] = Field(default=(), max_length=_MANY)
    routing: Part = Part()
    protocols: tuple[ProtocolState, ...] = Field(default=(), max_length=_MANY)
    bfd: tuple[BfdState, ...] = Field(default=(), max_length=_MANY)
    ospf: tuple[OspfState, ...] = Field(default=(), max_length=_MANY)


class DriftSeverity(StrEnum):
    """How much a difference matters."""

    INFO = "info"
    WARNING = "warning"
    CRITICAL = "critical"


class DriftItem(Frame):
    """One difference between what should run and what does."""

    subject: str = Field(max_length=_NAME, description="Such as `link:wg-f` or `session:f`")
    severity: DriftSeverity
    desired: str = Field(max_length=_WORDS)
    observed: str = Field(max_length=_WORDS)


class ReconciliationReport(Frame):
    """All differences that the last pass saw; none is an empty report."""

    type: Literal["reconciliation_report"] = "reconciliation_report"
    generation: int
    checked_at: datetime
    items: tuple[DriftItem, ...] = Field(default=(), max_length=_MANY)
