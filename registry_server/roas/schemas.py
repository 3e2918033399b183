"""The words of this feature."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import NamedTuple

from pydantic import BaseModel, ConfigDict, Field, RootModel

from registry_server.objects.schemas import Prefix
from shared.listeners import ListenerSettings


class RoaSettings(BaseModel):
    """How ROAs are exported."""

    model_config = ConfigDict(frozen=True)

    stale_after: timedelta = Field(
        default=timedelta(hours=12),
        description="After so long without a look upstream that went well, exports are refused: "
        "routers keep what they have, and nobody takes old data for new",
    )
    authority: str = Field(
        default="dn42", pattern=r"^[A-Za-z0-9_-]{1,40}$", description="Trust anchor that the JSON names"
    )


class RtrSettings(ListenerSettings):
    """The port for routers (RFC 8210)."""

    refresh: timedelta = Field(default=timedelta(hours=1), description="How often routers ask by themselves")
    retry: timedelta = Field(default=timedelta(minutes=10), description="How soon they try again")
    expire: timedelta = Field(default=timedelta(hours=2), description="How long they keep what they have")
    notify_every: timedelta = Field(
        default=timedelta(minutes=1), description="Routers are told of changes at most so often"
    )
    history: int = Field(default=64, ge=0, description="Changes that are kept to be sent as differences")


class RoaFormat(StrEnum):
    """What a file of ROAs is written for."""

    JSON = "json"
    BIRD4 = "bird4"
    BIRD6 = "bird6"
    OPENBGPD = "openbgpd"


class Action(StrEnum):
    """What a filter rule does with the prefixes in its block."""

    PERMIT = "permit"
    DENY = "deny"


class FilterRule(NamedTuple):
    """One line of a filter file; the first that a prefix lies in decides."""

    number: int
    action: Action
    block: Prefix
    shortest: int
    longest: int


class Roa(NamedTuple):
    """One authorisation, in the order in which they are listed."""

    family: int
    first: bytes
    length: int
    origin: int
    max_length: int
    #: Canonical text of the prefix.
    prefix: str


class RoaProblemCode(StrEnum):
    """Why a route has no ROA, or another than it asks for."""

    DENIED = "roa_denied"
    NO_RULE = "roa_without_rule"
    TOO_LONG = "roa_prefix_too_long"
    MAX_LENGTH_TOO_SHORT = "roa_max_length_too_short"
    MAX_LENGTH_RAISED = "roa_max_length_raised"
    MAX_LENGTH_LOWERED = "roa_max_length_lowered"
    SHORTER_THAN_RULE = "roa_prefix_shorter_than_rule"
    BAD_RULE = "roa_bad_rule"


#: Those that cost the route its ROA.
DROPPING = frozenset(
    {
        RoaProblemCode.DENIED,
        RoaProblemCode.NO_RULE,
        RoaProblemCode.TOO_LONG,
        RoaProblemCode.MAX_LENGTH_TOO_SHORT,
    }
)


class RoaProblem(NamedTuple):
    """One of these, and what it is about."""

    code: RoaProblemCode
    subject: str
    detail: str


@dataclass(frozen=True, slots=True)
class RoaSet:
    """The ROAs of one sync, sorted, each once, with every format of them made at the same time."""

    version: int
    commit: str | None
    roas: Sequence[Roa]
    problems: Sequence[RoaProblem]
    rules: Mapping[int, Sequence[FilterRule]]
    #: Name of the format → the body, where nothing in it depends on the time.
    bodies: Mapping[RoaFormat, bytes]
    #: Of the ROAs alone: the same after a restart, and as long as they stay the same.
    digest: str


class RoaStatus(BaseModel):
    """What is given out."""

    version: int = Field(description="The applied sync from which the ROAs were derived")
    commit: str | None
    checked_at: datetime | None = Field(description="When upstream last had nothing newer")
    fresh: bool = Field(description="Whether that was lately enough to give ROAs out")
    ipv4: int
    ipv6: int
    problems: int


class RoaProblemRead(BaseModel):
    """Why a route has no ROA, or another than it asks for."""

    code: RoaProblemCode
    subject: str = Field(description="The prefix, or the filter file")
    detail: str


class RoaProblemList(RootModel[list[RoaProblemRead]]):
    """All of them."""


class Export(NamedTuple):
    """One file as it is sent."""

    body: bytes
    #: The same with gzip: other bytes, and so with a tag of its own (RFC 9110, section 8.8.3.3).
    packed: bytes
    tag: str
    packed_tag: str
    modified_at: datetime
    media_type: str
