"""What two samples of a node mean: link by link first, then all links together. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta

from control_server.traffic.rules.rates import Difference, added, difference
from control_server.traffic.schemas import TOTAL, Bucket, SeriesKey, Volume
from shared.protocol.reports import CounterReading, LinkKind, TrafficSample


def is_repeated(before: TrafficSample | None, now: TrafficSample) -> bool:
    """Whether a sample says nothing new: it was taken already, or is older than what was."""
    if before is None:
        return False
    if before.stream == now.stream:
        return now.sequence <= before.sequence
    return before.boot_id == now.boot_id and now.monotonic_seconds <= before.monotonic_seconds


def compared(before: TrafficSample | None, now: TrafficSample, at: datetime) -> list[Bucket]:
    """What went over each link, and over all together, between two samples; only what is known of it."""
    if before is None:
        return []
    seconds = now.monotonic_seconds - before.monotonic_seconds
    same_boot = before.boot_id == now.boot_id
    old = _by_key(before)
    found = {
        key: (reading.kind, difference(old.get(key), reading, seconds, same_boot=same_boot))
        for key, reading in _by_key(now).items()
    }
    whole = _whole(found)
    buckets = [_bucket(key, kind, at, counted) for key, (kind, counted) in found.items() if counted.known]
    if buckets and whole:
        total = added((counted for _, counted in whole.values()), seconds)
        if total.known:
            kind = next(iter(whole.values()))[0]
            buckets.append(_bucket(TOTAL, kind, at, total))
    return buckets


def _whole(
    found: Mapping[SeriesKey, tuple[LinkKind, Difference]],
) -> Mapping[SeriesKey, tuple[LinkKind, Difference]]:
    """The links that make up a node's traffic.

    What goes through a tunnel goes over a physical link as well, so only one kind is counted: tunnels where
    there are any.
    """
    for kind in (LinkKind.TUNNEL, LinkKind.PHYSICAL, LinkKind.OTHER):
        whole = {key: value for key, value in found.items() if value[0] is kind and not key.peer}
        if whole:
            return whole
    return {}


def _by_key(sample: TrafficSample) -> dict[SeriesKey, CounterReading]:
    return {SeriesKey(reading.interface, reading.peer): reading for reading in sample.counters}


def _bucket(key: SeriesKey, kind: LinkKind, at: datetime, counted: Difference) -> Bucket:
    length = timedelta(seconds=counted.seconds)
    volume = Volume(
        seconds=counted.seconds,
        received_bytes=counted.received_bytes,
        sent_bytes=counted.sent_bytes,
        received_packets=counted.received_packets,
        sent_packets=counted.sent_packets,
        received_peak=counted.received_bytes / counted.seconds,
        sent_peak=counted.sent_bytes / counted.seconds,
    )
    return Bucket(key, kind, at - length, length, volume)
