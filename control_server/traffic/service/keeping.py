"""Keeps the samples of nodes: each is one transaction, and counts once however often it comes."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial

import structlog

from control_server.agents.service import AgentConnection
from control_server.traffic import rules
from control_server.traffic.repository import Step, TrafficRepository
from control_server.traffic.schemas import TOTAL, Bucket
from control_server.traffic.store import Window
from shared.cache import Cache
from shared.database import Database, after_commit
from shared.kernel.clock import Clock
from shared.protocol.reports import TrafficSample

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class SampleKeeper:
    """Takes samples."""

    database: Database
    cache: Cache
    now: Clock

    async def hear(self, connection: AgentConnection, sample: TrafficSample) -> None:
        """A sample that came over a socket."""
        await self.take(connection.node_id, sample)

    async def take(self, node_id: str, sample: TrafficSample) -> bool:
        """Add what it shows to the archives; False for a sample that was taken already."""
        now = self.now()
        async with self.database.transaction() as session:
            traffic = TrafficRepository(session)
            last = await traffic.hold_last(node_id, now)
            before = TrafficSample.model_validate(last.sample) if last.sample else None
            if rules.is_repeated(before, sample):
                return False
            last.stream, last.sequence, last.received_at = sample.stream, sample.sequence, now
            last.sample = sample.model_dump(mode="json")
            await session.flush()
            buckets = rules.compared(before, sample, now)
            await self._archive(traffic, node_id, now, buckets)
            if buckets:
                after_commit(session, partial(self._show, node_id, now, buckets))
        return True

    async def _archive(
        self, traffic: TrafficRepository, node_id: str, now: datetime, buckets: list[Bucket]
    ) -> None:
        steps = [
            Step(step, rules.beginning(now, timedelta(seconds=step))) for step in (rules.FINE, rules.COARSE)
        ]
        await traffic.add_volumes(node_id, steps, buckets)
        for total in buckets:
            if total.key == TOTAL:
                await traffic.add_to_fleet(steps, total.volume)

    async def _show(self, node_id: str, now: datetime, buckets: list[Bucket]) -> None:
        await Window(self.cache).push(node_id, now, buckets)
