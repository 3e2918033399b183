"""SQL of traffic."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cache
from typing import Any, NamedTuple

from sqlalchemy import case, delete, func, select, tuple_
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.ext.asyncio import AsyncSession

from control_server.traffic.models import FleetBucket, LastSample, TrafficBucket
from control_server.traffic.schemas import ALL_LINKS, Bucket, SeriesKey, Volume
from shared.protocol.reports import LinkKind

_KEY = ("node_id", "step", "at", "interface", "peer")
#: Whatever the session has read before.
_ANEW = {"populate_existing": True}


class Step(NamedTuple):
    """One step of an archive."""

    seconds: int
    at: datetime


@dataclass(frozen=True, slots=True)
class LinkSum:
    """One link of a node over some time."""

    key: SeriesKey
    kind: LinkKind
    now: Volume | None
    before: Volume | None


@dataclass(frozen=True, slots=True)
class TrafficRepository:
    """Traffic in one session."""

    session: AsyncSession

    async def hold_last(self, node_id: str, at: datetime) -> LastSample:
        """The newest sample of a node, held until the end of the transaction; an empty one at first."""
        wanted = select(LastSample).where(LastSample.node_id == node_id).with_for_update()
        held = (await self.session.scalars(wanted, execution_options=_ANEW)).one_or_none()
        if held is not None:
            return held
        nothing = {"node_id": node_id, "stream": "", "sequence": 0, "received_at": at, "sample": {}}
        new = _insert(self._dialect, LastSample).on_conflict_do_nothing()
        await self.session.execute(new, [nothing])
        return (await self.session.scalars(wanted, execution_options=_ANEW)).one()

    async def add_volumes(self, node_id: str, steps: Sequence[Step], buckets: Sequence[Bucket]) -> None:
        """Add to these steps of the archives, always in the same order: writers wait, and never in a ring."""
        rows = [_row(node_id, step, bucket) for step in steps for bucket in buckets]
        if rows:
            rows.sort(key=lambda row: (row["step"], row["interface"], row["peer"]))
            await self.session.execute(_adding_volumes(self._dialect), rows)

    async def add_to_fleet(self, steps: Sequence[Step], volume: Volume) -> None:
        """Add to what the fleet moved in these steps. All nodes meet here: last in a transaction."""
        moved = {"received_bytes": volume.received_bytes, "sent_bytes": volume.sent_bytes}
        rows = [{"step": step.seconds, "at": step.at, **moved} for step in steps]
        await self.session.execute(_adding_to_fleet(self._dialect), rows)

    async def buckets(self, node_id: str, step: int, since: datetime, key: SeriesKey) -> Sequence[Bucket]:
        """One link of a node since an instant, in order."""
        wanted = (
            select(TrafficBucket)
            .where(
                TrafficBucket.node_id == node_id,
                TrafficBucket.step == step,
                TrafficBucket.at >= since,
                TrafficBucket.interface == key.interface,
                TrafficBucket.peer == key.peer,
            )
            .order_by(TrafficBucket.at)
        )
        return [_bucket(row) for row in await self.session.scalars(wanted)]

    async def knows(self, node_id: str, key: SeriesKey) -> bool:
        """Whether anything was ever kept of a link."""
        wanted = select(TrafficBucket.node_id).where(
            TrafficBucket.node_id == node_id,
            TrafficBucket.interface == key.interface,
            TrafficBucket.peer == key.peer,
        )
        return await self.session.scalar(wanted.limit(1)) is not None

    async def links(self, node_id: str, step: int, since: datetime, before: datetime) -> Sequence[LinkSum]:
        """Every link of a node since an instant, and in the time from `before` to it."""
        now = TrafficBucket.at >= since
        columns = [column for when in (now, TrafficBucket.at < since) for column in _sums(when)]
        wanted = (
            select(TrafficBucket.interface, TrafficBucket.peer, func.max(TrafficBucket.kind), *columns)
            .where(TrafficBucket.node_id == node_id, TrafficBucket.step == step, TrafficBucket.at >= before)
            .group_by(TrafficBucket.interface, TrafficBucket.peer)
        )
        return [
            LinkSum(SeriesKey(interface, peer), LinkKind(kind), _volume(sums[:5]), _volume(sums[5:]))
            for interface, peer, kind, *sums in await self.session.execute(wanted)
        ]

    async def fleet(self, step: int, since: datetime) -> Sequence[tuple[datetime, int, int]]:
        """What the fleet moved in each step since an instant."""
        wanted = (
            select(FleetBucket.at, FleetBucket.received_bytes, FleetBucket.sent_bytes)
            .where(FleetBucket.step == step, FleetBucket.at >= since)
            .order_by(FleetBucket.at)
        )
        return [(at, received, sent) for at, received, sent in await self.session.execute(wanted)]

    async def by_node(self, step: int, since: datetime, until: datetime) -> dict[str, Volume]:
        """All links together of each node within some time."""
        wanted = (
            select(TrafficBucket.node_id, *_sums(TrafficBucket.at < until))
            .where(
                TrafficBucket.interface == ALL_LINKS,
                TrafficBucket.step == step,
                TrafficBucket.at >= since,
                TrafficBucket.at < until,
            )
            .group_by(TrafficBucket.node_id)
        )
        found = {node: _volume(sums) for node, *sums in await self.session.execute(wanted)}
        return {node: volume for node, volume in found.items() if volume is not None}

    async def forget(self, step: int, before: datetime, most: int) -> int:
        """Remove at most so many of the oldest rows of an archive; how many there were."""
        key = tuple_(*(getattr(TrafficBucket, name) for name in _KEY))
        oldest = (
            select(*(getattr(TrafficBucket, name) for name in _KEY))
            .where(TrafficBucket.step == step, TrafficBucket.at < before)
            .order_by(TrafficBucket.at)
            .limit(most)
        )
        removed = await self.session.execute(delete(TrafficBucket).where(key.in_(oldest)))
        await self.session.execute(
            delete(FleetBucket).where(FleetBucket.step == step, FleetBucket.at < before)
        )
        return int(getattr(removed, "rowcount", 0))

    @property
    def _dialect(self) -> str:
        return self.session.get_bind().dialect.name


# Samples come every thirty seconds from every node: composing these statements took longer than running them.


@cache
def _adding_volumes(dialect: str) -> Any:
    new = _insert(dialect, TrafficBucket)
    there, more = TrafficBucket.__table__.c, new.excluded
    changes: dict[str, Any] = {
        name: there[name] + more[name] for name in ("seconds", "received_bytes", "sent_bytes")
    }
    for name in ("received_packets", "sent_packets"):
        changes[name] = func.coalesce(there[name] + more[name], more[name], there[name])
    for name in ("received_peak", "sent_peak"):
        changes[name] = case((more[name] > there[name], more[name]), else_=there[name])
    return new.on_conflict_do_update(index_elements=_KEY, set_=changes)


@cache
def _adding_to_fleet(dialect: str) -> Any:
    new = _insert(dialect, FleetBucket)
    there = FleetBucket.__table__.c
    changes = {name: there[name] + new.excluded[name] for name in ("received_bytes", "sent_bytes")}
    return new.on_conflict_do_update(index_elements=("step", "at"), set_=changes)


def _insert(dialect: str, table: type[Any]) -> Any:
    return (sqlite if dialect == "sqlite" else postgresql).insert(table.__table__)


def _sums(when: Any) -> list[Any]:
    names = ("seconds", "received_bytes", "sent_bytes")
    summed: list[Any] = [func.sum(case((when, getattr(TrafficBucket, name)))) for name in names]
    peaks = [func.max(case((when, getattr(TrafficBucket, name)))) for name in ("received_peak", "sent_peak")]
    return [*summed, *peaks]


def _volume(sums: Sequence[Any]) -> Volume | None:
    seconds, received, sent, received_peak, sent_peak = sums
    if seconds is None:
        return None
    return Volume(float(seconds), int(received), int(sent), received_peak=received_peak, sent_peak=sent_peak)


def _row(node_id: str, step: Step, bucket: Bucket) -> dict[str, Any]:
    volume = bucket.volume
    return {
        "node_id": node_id,
        "step": step.seconds,
        "at": step.at,
        "interface": bucket.key.interface,
        "peer": bucket.key.peer,
        "kind": bucket.kind.value,
        "seconds": volume.seconds,
        "received_bytes": volume.received_bytes,
        "sent_bytes": volume.sent_bytes,
        "received_packets": volume.received_packets,
        "sent_packets": volume.sent_packets,
        "received_peak": volume.received_peak,
        "sent_peak": volume.sent_peak,
    }


def _bucket(row: TrafficBucket) -> Bucket:
    return Bucket(
        key=SeriesKey(row.interface, row.peer),
        kind=LinkKind(row.kind),
        at=row.at,
        length=timedelta(seconds=row.step),
        volume=Volume(
            seconds=row.seconds,
            received_bytes=row.received_bytes,
            sent_bytes=row.sent_bytes,
            received_packets=row.received_packets,
            sent_packets=row.sent_packets,
            received_peak=row.received_peak,
            sent_peak=row.sent_peak,
        ),
    )
