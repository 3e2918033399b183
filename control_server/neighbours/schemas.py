"""Shapes of what the registry says of another network."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from ipaddress import IPv4Network, IPv6Network
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

#: Name of an as-set, hierarchical or not (RFC 2622, section 5).
AsSetName = Annotated[
    str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9_:-]{1,62}$", to_upper=True, strip_whitespace=True)
]
#: Most prefixes that are taken from one source; a router's filter of more would be a mistake.
MAX_ROUTES = 5000


class RouteObject(BaseModel):
    """A prefix that somebody may originate."""

    model_config = ConfigDict(frozen=True)

    prefix: IPv4Network | IPv6Network
    max_length: int | None = Field(
        default=None, ge=0, le=128, description="Longest part of it, if it says so"
    )
    mnt_by: tuple[str, ...] = Field(default=(), description="Who maintains the object")

    @property
    def longest(self) -> int:
        """The longest prefix that the object allows."""
        length = self.prefix.prefixlen
        return (
            length
            if self.max_length is None
            else min(max(self.max_length, length), self.prefix.max_prefixlen)
        )


class RegistryFilter(BaseModel):
    """Of a neighbour only those prefixes are taken that the registry lets it originate."""

    model_config = ConfigDict(extra="forbid")

    as_set: AsSetName | None = Field(
        default=None,
        description="Also what the networks of this set may originate; by default the neighbour alone",
        examples=["AS-FOO"],
    )

    def source(self, asn: int) -> str:
        """Whose route objects are meant."""
        return self.as_set or f"AS{asn}"


class Known(StrEnum):
    """What the registry says of an AS number."""

    YES = "yes"
    NO = "no"
    #: The registry does not answer now.
    AWAY = "away"


class NeighbourRead(BaseModel):
    """A network as the registry knows it now."""

    asn: int
    known: Known = Field(description="`away`: the registry does not answer; nothing is said then")
    as_name: str | None = None
    mntners: list[str] = Field(default_factory=list, description="Who can prove to hold the AS number")
    contacts: list[str] = Field(default_factory=list)
    routes: list[RouteObject] = Field(default_factory=list, description="What it may originate")
    routes_known: bool = Field(default=True, description="False: the registry did not tell the prefixes")


class PrefixCheck(BaseModel):
    """Whether a network may originate a prefix."""

    prefix: IPv4Network | IPv6Network
    verdict: Known = Field(description="`yes`: a route object of the AS allows it")
    mnt_by: list[str] = Field(default_factory=list, description="Who maintains that object")


class NeighbourChecks(BaseModel):
    """Prefixes held against the registry."""

    asn: int
    items: list[PrefixCheck]


class LearnedRead(BaseModel):
    """Route objects as filters are made of them."""

    source: str
    routes: int | None = Field(description="How many prefixes; null while nobody has answered yet")
    answered_at: datetime | None = Field(description="When the registry told them last")
    asked_at: datetime
    problem: str = Field(default="", description="Why the last question was not answered")
