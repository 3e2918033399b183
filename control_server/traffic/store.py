"""The last two hours of samples on the cache tier. They are for looking at: nothing is computed from them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from control_server.keys import TRAFFIC_WINDOW
from control_server.traffic.schemas import Bucket, SeriesKey, Volume
from shared.cache import Cache, TierUnavailable
from shared.protocol.reports import LinkKind

_TTL_SECONDS = 7200
#: Links of one sample, the busiest first, so that a window stays small.
_LINKS = 128


@dataclass(frozen=True, slots=True)
class Window:
    """The newest samples of nodes, as differences."""

    cache: Cache

    async def push(self, node_id: str, at: datetime, buckets: Sequence[Bucket]) -> bool:
        """Keep what one sample has shown; False where the tier is away, which loses only this view of it."""
        if not self.cache.configured:
            return False
        busiest = sorted(buckets, key=_weight, reverse=True)[:_LINKS]
        item = {"at": at.isoformat(), "links": [_packed(bucket) for bucket in busiest]}
        try:
            await self.cache.push_window(TRAFFIC_WINDOW.key(node=node_id), item, ttl_seconds=_TTL_SECONDS)
        except TierUnavailable:
            return False
        return True

    async def read(self, node_id: str, key: SeriesKey) -> list[Bucket] | None:
        """One link in the samples that are kept, oldest first; None where the tier is away."""
        if not self.cache.configured:
            return None
        try:
            items = await self.cache.read_list(TRAFFIC_WINDOW.key(node=node_id))
        except TierUnavailable:
            return None
        found = (_unpacked(item, key) for item in reversed(items))
        return [bucket for bucket in found if bucket is not None]


def _weight(bucket: Bucket) -> tuple[bool, int]:
    return bucket.key.interface == "*", bucket.volume.received_bytes + bucket.volume.sent_bytes


def _packed(bucket: Bucket) -> list[Any]:
    volume = bucket.volume
    return [
        bucket.key.interface,
        bucket.key.peer,
        bucket.kind.value,
        round(volume.seconds, 3),
        volume.received_bytes,
        volume.sent_bytes,
    ]


def _unpacked(item: Any, key: SeriesKey) -> Bucket | None:
    try:
        at = datetime.fromisoformat(item["at"])
        for interface, peer, kind, seconds, received, sent in item["links"]:
            if (interface, peer) == (key.interface, key.peer):
                length = timedelta(seconds=seconds)
                peaks = {"received_peak": received / seconds, "sent_peak": sent / seconds}
                volume = Volume(seconds, received, sent, **peaks)
                return Bucket(key, LinkKind(kind), at - length, length, volume)
    except (KeyError, TypeError, ValueError):
        # Of another version: as good as not there.
        return None
    return None
