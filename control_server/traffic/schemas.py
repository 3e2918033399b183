"""Wire shapes of traffic. Rates are in bit/s; None means that it is not known, which is not zero."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from pydantic import BaseModel, ConfigDict, Field

from shared.protocol.reports import LinkKind

#: Stands for all links of a node together.
ALL_LINKS = "*"


class TrafficRange(StrEnum):
    """How far back."""

    HOURS_2 = "2h"
    HOURS_6 = "6h"
    HOURS_24 = "24h"
    DAYS_7 = "7d"
    DAYS_30 = "30d"
    DAYS_90 = "90d"


class TrafficSource(StrEnum):
    """What a series is drawn from."""

    SAMPLES = "samples"
    ARCHIVE_5M = "archive_5m"
    ARCHIVE_1H = "archive_1h"


@dataclass(frozen=True, slots=True)
class SeriesKey:
    """One series of a node: an interface, or one peer of it."""

    interface: str
    peer: str = ""


#: The series of all links of a node together.
TOTAL = SeriesKey(ALL_LINKS)


@dataclass(frozen=True, slots=True)
class Volume:
    """What went over a link within some time, as far as it was measured."""

    seconds: float
    received_bytes: int
    sent_bytes: int
    received_packets: int | None = None
    sent_packets: int | None = None
    #: The greatest rates that were measured within it, in bytes a second.
    received_peak: float = 0.0
    sent_peak: float = 0.0


@dataclass(frozen=True, slots=True)
class Bucket:
    """One link for some time: a step of an archive, or from one sample to the next."""

    key: SeriesKey
    kind: LinkKind
    at: datetime
    length: timedelta
    volume: Volume


@dataclass(frozen=True, slots=True)
class Grid:
    """The instants of a chart: `count` steps from `start`, each with the archive's steps that lie in it."""

    start: datetime
    step: timedelta
    count: int

    @property
    def end(self) -> datetime:
        """The first instant after it."""
        return self.start + self.step * self.count

    @property
    def before(self) -> Grid:
        """The same length right before it."""
        return Grid(self.start - self.step * self.count, self.step, self.count)


class SeriesQuery(BaseModel):
    """Which link of a node, and how far back."""

    model_config = ConfigDict(frozen=True)

    range: TrafficRange = Field(default=TrafficRange.HOURS_2, description="How far back")
    interface: str = Field(
        default=ALL_LINKS, min_length=1, max_length=128, description="One link; `*` is all of them"
    )
    peer: str = Field(default="", max_length=64, description="Public key of one WireGuard peer of the link")


class PointsRead(BaseModel):
    """One value a step of the grid, in bit/s; null where nothing was measured."""

    received: list[float | None]
    sent: list[float | None]
    received_peak: list[float | None]
    sent_peak: list[float | None]
    previous_received: list[float | None] = Field(description="The period of the same length before")
    previous_sent: list[float | None]


class TotalsRead(BaseModel):
    """Bytes over the whole range; null where nothing was measured."""

    received_bytes: int | None
    sent_bytes: int | None
    previous_received_bytes: int | None
    previous_sent_bytes: int | None
    measured_share: float = Field(description="Share of the range for which something was measured")


class SeriesRead(BaseModel):
    """One link over time."""

    interface: str = Field(description="`*` is all links together")
    peer: str
    kind: LinkKind
    start: datetime
    step_seconds: int
    points: PointsRead
    total: TotalsRead


class TrafficRead(BaseModel):
    """Traffic of one node."""

    node_id: str
    range: TrafficRange
    source: TrafficSource
    degraded: bool = Field(description="The recent samples are away; this is drawn from the archive")
    series: list[SeriesRead]


class LinkRead(BaseModel):
    """One link over the whole range; rates in bit/s."""

    interface: str
    peer: str
    kind: LinkKind
    received_bytes: int
    sent_bytes: int
    received_average: float
    sent_average: float
    received_peak: float
    sent_peak: float
    previous_received_bytes: int | None
    previous_sent_bytes: int | None


class LinksRead(BaseModel):
    """The links of one node, the busiest first."""

    node_id: str
    range: TrafficRange
    source: TrafficSource
    items: list[LinkRead]


class NodeTrafficRead(BaseModel):
    """One node within the fleet's traffic."""

    node_id: str
    received_bytes: int | None
    sent_bytes: int | None
    received_now: float | None = Field(description="In the last whole step of the grid")
    sent_now: float | None


class FleetTrafficRead(BaseModel):
    """Traffic of the whole fleet."""

    range: TrafficRange
    source: TrafficSource
    degraded: bool = Field(default=False)
    total: SeriesRead
    nodes: list[NodeTrafficRead]
