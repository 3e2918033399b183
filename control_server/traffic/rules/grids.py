"""Where the points of a chart are, and what stands at them. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from control_server.traffic.schemas import (
    Bucket,
    Grid,
    LinkRead,
    PointsRead,
    SeriesKey,
    SeriesRead,
    TotalsRead,
    TrafficRange,
    TrafficSource,
    Volume,
)
from shared.protocol.reports import LinkKind

#: Steps of the archives, in seconds.
FINE, COARSE = 300, 3600
#: Of any chart.
MAX_POINTS = 240
_BITS = 8
_LENGTHS = {
    TrafficRange.HOURS_2: (timedelta(hours=2), 30, TrafficSource.SAMPLES),
    TrafficRange.HOURS_6: (timedelta(hours=6), FINE, TrafficSource.ARCHIVE_5M),
    TrafficRange.HOURS_24: (timedelta(hours=24), 2 * FINE, TrafficSource.ARCHIVE_5M),
    TrafficRange.DAYS_7: (timedelta(days=7), COARSE, TrafficSource.ARCHIVE_1H),
    TrafficRange.DAYS_30: (timedelta(days=30), 3 * COARSE, TrafficSource.ARCHIVE_1H),
    TrafficRange.DAYS_90: (timedelta(days=90), 9 * COARSE, TrafficSource.ARCHIVE_1H),
}
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Plan:
    """How a range is drawn."""

    grid: Grid
    source: TrafficSource

    @property
    def archive_step(self) -> int:
        """Step of the archive that it is drawn from."""
        return COARSE if self.source is TrafficSource.ARCHIVE_1H else FINE


def plan(wanted: TrafficRange, now: datetime, *, raw: bool = True) -> Plan:
    """The grid of a range, its last step being the one that is under way.

    The step of a grid begins at a multiple of itself, so that the same instants are asked for again
    and again. Without raw samples the last two hours are drawn from the archive.
    """
    length, seconds, source = _LENGTHS[wanted]
    if source is TrafficSource.SAMPLES and not raw:
        seconds, source = FINE, TrafficSource.ARCHIVE_5M
    step = timedelta(seconds=seconds)
    count = length // step
    end = beginning(now, step) + step
    return Plan(Grid(end - step * count, step, count), source)


def beginning(at: datetime, step: timedelta) -> datetime:
    """The beginning of the step that an instant lies in."""
    return _EPOCH + (at - _EPOCH) // step * step


@dataclass(frozen=True, slots=True)
class Drawn:
    """What is known of one link for a grid and for the same length before it."""

    key: SeriesKey
    kind: LinkKind
    now: Sequence[Bucket]
    before: Sequence[Bucket]


def series(grid: Grid, link: Drawn) -> SeriesRead:
    """One link on a grid, beside the period before it."""
    found, earlier = _placed(grid, link.now), _placed(grid.before, link.before)
    points = PointsRead(
        received=[_average(found.get(place), "received_bytes") for place in range(grid.count)],
        sent=[_average(found.get(place), "sent_bytes") for place in range(grid.count)],
        received_peak=[_peak(found.get(place), "received_peak") for place in range(grid.count)],
        sent_peak=[_peak(found.get(place), "sent_peak") for place in range(grid.count)],
        previous_received=[_average(earlier.get(place), "received_bytes") for place in range(grid.count)],
        previous_sent=[_average(earlier.get(place), "sent_bytes") for place in range(grid.count)],
    )
    return SeriesRead(
        interface=link.key.interface,
        peer=link.key.peer,
        kind=link.kind,
        start=grid.start,
        step_seconds=int(grid.step.total_seconds()),
        points=points,
        total=_totals(grid, _within(grid, link.now), _within(grid.before, link.before)),
    )


def of_samples(archive: Sequence[Bucket], samples: Sequence[Bucket]) -> tuple[list[Bucket], bool]:
    """The samples, with the archive for what lies wholly before the first of them, and whether any does.

    Within the samples nothing is filled in: a hole there is a hole.
    """
    if not samples:
        return list(archive), bool(archive)
    first = min(sample.at for sample in samples)
    older = [bucket for bucket in archive if bucket.at + bucket.length <= first]
    return [*older, *samples], bool(older)


def link(key: SeriesKey, kind: LinkKind, volume: Volume, before: Volume | None) -> LinkRead:
    """One link over a whole range."""
    return LinkRead(
        interface=key.interface,
        peer=key.peer,
        kind=kind,
        received_bytes=volume.received_bytes,
        sent_bytes=volume.sent_bytes,
        received_average=_BITS * volume.received_bytes / volume.seconds,
        sent_average=_BITS * volume.sent_bytes / volume.seconds,
        received_peak=_BITS * volume.received_peak,
        sent_peak=_BITS * volume.sent_peak,
        previous_received_bytes=before.received_bytes if before else None,
        previous_sent_bytes=before.sent_bytes if before else None,
    )


def together(volumes: Iterable[Volume]) -> Volume | None:
    """Volumes of one link one after another; None where there is none."""
    found: Volume | None = None
    for volume in volumes:
        found = volume if found is None else _joined(found, volume)
    return found


def _joined(one: Volume, other: Volume) -> Volume:
    return Volume(
        seconds=one.seconds + other.seconds,
        received_bytes=one.received_bytes + other.received_bytes,
        sent_bytes=one.sent_bytes + other.sent_bytes,
        received_peak=max(one.received_peak, other.received_peak),
        sent_peak=max(one.sent_peak, other.sent_peak),
    )


def _placed(grid: Grid, buckets: Iterable[Bucket]) -> Mapping[int, Volume]:
    """The volume of each step: of the buckets that begin in it, or of the one that lies over its middle."""
    found: dict[int, Volume] = {}
    for bucket in buckets:
        for place in _places(grid, bucket):
            there = found.get(place)
            found[place] = bucket.volume if there is None else _joined(there, bucket.volume)
    return found


def _places(grid: Grid, bucket: Bucket) -> Iterable[int]:
    if bucket.length >= grid.step:
        first = -((grid.start + grid.step / 2 - bucket.at) // grid.step)
        last = -((grid.start + grid.step / 2 - bucket.at - bucket.length) // grid.step)
        return range(max(0, first), min(grid.count, last))
    place = (bucket.at - grid.start) // grid.step
    return (place,) if 0 <= place < grid.count else ()


def _within(grid: Grid, buckets: Iterable[Bucket]) -> list[Volume]:
    return [bucket.volume for bucket in buckets if grid.start <= bucket.at < grid.end]


def _average(volume: Volume | None, name: str) -> float | None:
    # Bytes over seconds, never the mean of rates.
    if volume is None or volume.seconds <= 0:
        return None
    return float(_BITS * getattr(volume, name) / volume.seconds)


def _peak(volume: Volume | None, name: str) -> float | None:
    return None if volume is None else float(_BITS * getattr(volume, name))


def _totals(grid: Grid, now: Iterable[Volume], before: Iterable[Volume]) -> TotalsRead:
    found, earlier = together(now), together(before)
    length = (grid.step * grid.count).total_seconds()
    return TotalsRead(
        received_bytes=found.received_bytes if found else None,
        sent_bytes=found.sent_bytes if found else None,
        previous_received_bytes=earlier.received_bytes if earlier else None,
        previous_sent_bytes=earlier.sent_bytes if earlier else None,
        measured_share=min(1.0, found.seconds / length) if found else 0.0,
    )
