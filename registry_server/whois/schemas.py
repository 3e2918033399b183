"""What the whois port is told, and what one connection remembers."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import timedelta

from pydantic import Field

from shared.listeners import ListenerSettings


class WhoisSettings(ListenerSettings):
    """The whois port."""

    source: str = Field(
        default="DN42",
        pattern=r"^[A-Z][A-Z0-9_-]{0,79}$",
        description="The name by which filter generators select this registry",
    )
    public_host: str = Field(
        default="",
        max_length=253,
        pattern=r"^[A-Za-z0-9.:-]*$",
        description="Name or address at which anybody reaches it on port 43; RDAP tells it. Empty: not told",
    )
    idle: timedelta = Field(
        default=timedelta(seconds=30), description="A connection without a question for so long is closed"
    )
    line_bytes: int = Field(default=1024, ge=64, description="A longer question is refused")
    answer_bytes: int = Field(default=4_194_304, ge=1024, description="A longer answer is refused")
    range_limit: int = Field(
        default=1_048_576,
        ge=1,
        description="A member of a route-set that stands for more prefixes is left out: clients expand it",
    )


@dataclass(slots=True)
class Session:
    """What one connection has asked for so far."""

    #: Seconds without a question after which it is closed.
    idle: float
    #: Whether there may be a next question.
    persistent: bool = False
    closing: bool = False
    #: Folded names of sets that are not to be followed.
    excluded: frozenset[str] = field(default_factory=frozenset)
