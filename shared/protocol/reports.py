"""Counters and routes as agents report them, both bounded, and the server's answer to routes."""

from __future__ import annotations

import base64
import binascii
import zlib
from collections.abc import Sequence
from datetime import datetime
from enum import StrEnum
from typing import Annotated, Literal, NamedTuple

from pydantic import Field, TypeAdapter, ValidationError

from shared.protocol.base import Frame
from shared.protocol.fleet import Sight

_NAME = 128
_WORDS = 1024
_STREAM = 64
_LONGEST_PATH = 2048
#: Counters of one sample: interfaces and peers.
MAX_COUNTERS = 4096
#: Prefixes of one report, so that neither side stands still over one; a larger table is several reports.
MAX_CHANGES = 5_000
#: Of one report, written out. What is larger is refused before it is.
MAX_UNPACKED_BYTES = 16_777_216
#: Of one report, as it goes over the wire.
MAX_PAYLOAD_CHARACTERS = 3_145_728


class LinkKind(StrEnum):
    """What an interface is to the node's traffic."""

    PHYSICAL = "physical"
    TUNNEL = "tunnel"
    OTHER = "other"


class CounterReading(Frame):
    """The counters of one interface, or of one peer of a WireGuard interface, since they began."""

    interface: str = Field(max_length=_NAME)
    peer: str = Field(default="", max_length=_STREAM, description="Public key; empty: the whole interface")
    kind: LinkKind = LinkKind.OTHER
    epoch: str = Field(max_length=_NAME, description="Changes when the counters begin anew")
    received_bytes: int = Field(ge=0, lt=2**64)
    sent_bytes: int = Field(ge=0, lt=2**64)
    received_packets: int | None = Field(default=None, ge=0, lt=2**64)
    sent_packets: int | None = Field(default=None, ge=0, lt=2**64)
    width: Literal[32, 64] = Field(default=64, description="Bits after which the counters wrap")
    link_bits: int | None = Field(default=None, gt=0, description="Bits a second that the link can carry")


class TrafficSample(Frame):
    """One look at all counters. The time between two is measured by the agent's monotonic clock alone."""

    type: Literal["traffic_sample"] = "traffic_sample"
    stream: str = Field(max_length=_STREAM, description="One life of the agent")
    sequence: int = Field(ge=1)
    taken_at: datetime
    monotonic_seconds: float = Field(ge=0)
    boot_id: str = Field(max_length=_STREAM)
    counters: tuple[CounterReading, ...] = Field(max_length=MAX_COUNTERS)


class Validity(StrEnum):
    """What origin validation (RFC 6811) makes of a route; the last one: nobody has looked."""

    VALID = "valid"
    INVALID = "invalid"
    NOT_FOUND = "not_found"
    UNCHECKED = "unchecked"


_Word = Annotated[str, Field(max_length=_NAME)]
_Number = Annotated[int, Field(ge=0, lt=2**32)]


class Route(NamedTuple):
    """One route of one prefix, as the node has it. On the wire it is the bare list of these values."""

    protocol: _Word
    #: Tells routes of one protocol for one prefix apart.
    ordinal: _Number
    #: The one that BIRD marks as best.
    best: bool
    filtered: bool
    #: Why it was filtered: the code that the import filter left on it.
    reason: _Number | None
    origin: _Number | None
    path: Annotated[str, Field(max_length=_LONGEST_PATH)]
    hops: _Number | None
    validity: Validity
    next_hop: _Word
    local_pref: _Number | None
    since: datetime | None


#: A prefix and everything that the node knows of it now; nothing: it is gone.
PrefixChange = tuple[Annotated[str, Field(max_length=_STREAM)], list[Route]]
_CHANGES: TypeAdapter[list[PrefixChange]] = TypeAdapter(list[PrefixChange])


class PrefixReport(Frame):
    """What changed in a node's tables since the report before it, or a part of the whole of them.

    The whole is as many reports as it takes: the first `begins`, the last is `complete`, and whatever none of
    them names is gone at the last. Any other report is complete by itself and builds upon `base`, the last
    that the server has acknowledged.
    """

    type: Literal["prefix_report"] = "prefix_report"
    stream: str = Field(max_length=_STREAM, description="One life of the agent")
    sequence: int = Field(ge=1)
    base: int = Field(default=0, ge=0)
    begins: bool = False
    complete: bool = True
    taken_at: datetime
    daemon_started_at: datetime | None = None
    sight: Sight = Sight.OBSERVED
    reason: str = Field(default="", max_length=_WORDS, description="Why the tables were not seen")
    count: int = Field(default=0, ge=0, le=MAX_CHANGES)
    encoding: Literal["zlib"] = "zlib"
    payload: str = Field(default="", max_length=MAX_PAYLOAD_CHARACTERS)


class PrefixAcknowledged(Frame):
    """A prefix report is stored, or (`resynchronise`) was not taken and the whole is to be told."""

    type: Literal["prefix_acknowledged"] = "prefix_acknowledged"
    stream: str
    sequence: int
    resynchronise: bool = False


class UnreadableReport(ValueError):
    """The payload is not what it says, or larger than it may be."""


def pack_changes(changes: Sequence[PrefixChange]) -> str:
    """The payload of at most MAX_CHANGES changes."""
    raw = _CHANGES.dump_json(list(changes))
    return base64.b64encode(zlib.compress(raw, level=6)).decode()


def unpack_changes(report: PrefixReport) -> list[PrefixChange]:
    """The changes of a report. Raises UnreadableReport; never writes out more than MAX_UNPACKED_BYTES."""
    if not report.payload:
        return []
    unpacking = zlib.decompressobj()
    try:
        raw = unpacking.decompress(base64.b64decode(report.payload, validate=True), MAX_UNPACKED_BYTES)
    except (binascii.Error, zlib.error) as error:
        raise UnreadableReport("the payload is not base64 of zlib") from error
    if unpacking.unconsumed_tail or not unpacking.eof:
        raise UnreadableReport("the payload is cut, or too large when written out")
    try:
        changes = _CHANGES.validate_json(raw)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        raise UnreadableReport(f"{'.'.join(map(str, first['loc']))}: {first['msg']}") from None
    if len(changes) != report.count or len(changes) > MAX_CHANGES:
        raise UnreadableReport("the payload has another number of prefixes than the report says")
    return changes
