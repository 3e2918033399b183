"""How much went over the links of nodes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from control_server.traffic import rules
from control_server.traffic.errors import LinkUnknown
from control_server.traffic.repository import TrafficRepository
from control_server.traffic.schemas import (
    TOTAL,
    Bucket,
    FleetTrafficRead,
    LinksRead,
    NodeTrafficRead,
    SeriesKey,
    SeriesRead,
    TrafficRange,
    TrafficRead,
    TrafficSource,
    Volume,
)
from control_server.traffic.store import Window
from shared.kernel.clock import Clock
from shared.protocol.reports import LinkKind

_BITS = 8
#: Ranges so short that hours would blur them; longer ones would be too many rows for a large fleet.
_FINE_BY_NODE = frozenset({TrafficRange.HOURS_2, TrafficRange.HOURS_6})


@dataclass(frozen=True, slots=True)
class TrafficService:
    """Traffic as one session sees it."""

    traffic: TrafficRepository
    window: Window
    now: Clock

    async def node(self, node_id: str, wanted: TrafficRange) -> TrafficRead:
        """All links of a node together."""
        return await self._drawn(node_id, wanted, TOTAL)

    async def one(self, node_id: str, wanted: TrafficRange, key: SeriesKey) -> TrafficRead:
        """One link of a node. Raises LinkUnknown."""
        if key != TOTAL and not await self.traffic.knows(node_id, key):
            raise LinkUnknown
        return await self._drawn(node_id, wanted, key)

    async def links(self, node_id: str, wanted: TrafficRange) -> LinksRead:
        """Every link of a node over the whole range, the busiest first."""
        plan = rules.plan(wanted, self.now(), raw=False)
        grid = plan.grid
        found = await self.traffic.links(node_id, plan.archive_step, grid.start, grid.before.start)
        items = [
            rules.link(entry.key, entry.kind, entry.now, entry.before)
            for entry in found
            if entry.now is not None and entry.key != TOTAL
        ]
        items.sort(key=lambda item: (-(item.received_bytes + item.sent_bytes), item.interface, item.peer))
        return LinksRead(node_id=node_id, range=wanted, source=plan.source, items=items)

    async def fleet(self, wanted: TrafficRange) -> FleetTrafficRead:
        """All nodes together, and each by itself; the same number of statements for any fleet."""
        plan = rules.plan(wanted, self.now(), raw=False)
        grid, total = plan.grid, await self._together(plan)
        coarse = timedelta(seconds=rules.COARSE)
        if wanted in _FINE_BY_NODE:
            whole = await self.traffic.by_node(rules.FINE, grid.start, grid.end)
        else:
            begins = rules.beginning(grid.start, coarse)
            whole = await self.traffic.by_node(rules.COARSE, begins, grid.end)
        last = rules.beginning(self.now(), timedelta(seconds=rules.FINE))
        recent = await self.traffic.by_node(rules.FINE, last - timedelta(seconds=rules.FINE), last)
        return FleetTrafficRead(range=wanted, source=plan.source, total=total, nodes=_nodes(whole, recent))

    async def together(self, wanted: TrafficRange) -> SeriesRead:
        """All nodes together."""
        return await self._together(rules.plan(wanted, self.now(), raw=False))

    async def _together(self, plan: rules.Plan) -> SeriesRead:
        grid, step = plan.grid, plan.archive_step
        buckets = self._fleet_buckets(step, await self.traffic.fleet(step, grid.before.start))
        return rules.series(
            grid,
            rules.Drawn(
                TOTAL,
                LinkKind.OTHER,
                [bucket for bucket in buckets if bucket.at >= grid.start],
                [bucket for bucket in buckets if bucket.at < grid.start],
            ),
        )

    def _fleet_buckets(self, step: int, rows: Sequence[tuple[datetime, int, int]]) -> list[Bucket]:
        length, now = timedelta(seconds=step), self.now()
        # Nodes come and go, so the time is the step's own; of the one under way what has passed of it.
        return [
            Bucket(
                TOTAL,
                LinkKind.OTHER,
                at,
                length,
                Volume(max(1.0, min(length, now - at).total_seconds()), received, sent),
            )
            for at, received, sent in rows
        ]

    async def _drawn(self, node_id: str, wanted: TrafficRange, key: SeriesKey) -> TrafficRead:
        now = self.now()
        plan = rules.plan(wanted, now)
        samples: Sequence[Bucket] | None = None
        if plan.source is TrafficSource.SAMPLES:
            samples = await self.window.read(node_id, key)
            if not samples:
                plan = rules.plan(wanted, now, raw=False)
        grid = plan.grid
        archived = await self.traffic.buckets(node_id, plan.archive_step, grid.before.start, key)
        present = [bucket for bucket in archived if bucket.at + bucket.length > grid.start]
        degraded = wanted is TrafficRange.HOURS_2 and bool(present) and not samples
        if samples:
            present, degraded = rules.of_samples(present, samples)
        before = [bucket for bucket in archived if bucket.at < grid.start]
        kind = archived[-1].kind if archived else LinkKind.OTHER
        drawn = rules.series(grid, rules.Drawn(key, kind, present, before))
        return TrafficRead(
            node_id=node_id, range=wanted, source=plan.source, degraded=degraded, series=[drawn]
        )


def _nodes(whole: Mapping[str, Volume], recent: Mapping[str, Volume]) -> list[NodeTrafficRead]:
    return [
        NodeTrafficRead(
            node_id=node,
            received_bytes=volume.received_bytes,
            sent_bytes=volume.sent_bytes,
            received_now=_rate(recent.get(node), "received_bytes"),
            sent_now=_rate(recent.get(node), "sent_bytes"),
        )
        for node, volume in sorted(
            whole.items(), key=lambda item: (-item[1].received_bytes - item[1].sent_bytes, item[0])
        )
    ]


def _rate(volume: Volume | None, name: str) -> float | None:
    if volume is None or volume.seconds <= 0:
        return None
    return float(_BITS * getattr(volume, name) / volume.seconds)
