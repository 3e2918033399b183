"""Keeps the snapshot up to SQL: a look each second, and at once when another process has synced."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from datetime import timedelta

from registry_server.keys import SYNCED
from registry_server.snapshot.service import SnapshotKeeper
from shared.cache import Cache, Interrupted, TierUnavailable
from shared.database import DatabaseUnavailable
from shared.kernel.loops import Loop

#: With its jitter never more than a second.
_LOOK = timedelta(seconds=0.9)
_FOR_EVER = timedelta(days=36_500)
#: Reading everything takes longer than a look, on a large registry and a busy host.
_READING = timedelta(minutes=5)


@dataclass(frozen=True, slots=True)
class SnapshotLoops:
    """The background work of a process that answers from a snapshot."""

    keeper: SnapshotKeeper
    cache: Cache

    def loops(self) -> list[Loop]:
        """The look, and listening where there is a tier to listen to."""
        look = Loop("registry.snapshot", self.look, interval=_LOOK, time_limit=_READING)
        listen = Loop("registry.synced", self.listen, interval=timedelta(seconds=1), time_limit=_FOR_EVER)
        return [look, listen] if self.cache.configured else [look]

    async def look(self) -> None:
        """Follow SQL; while it is away the last snapshot answers, and health says what is wrong."""
        try:
            await self.keeper.refresh()
        except DatabaseUnavailable:
            return

    async def listen(self) -> None:
        """Look whenever somebody has synced, or may have while nothing was heard."""
        try:
            async with self.cache.subscribe(SYNCED.key()) as heard:
                async for event in heard:
                    if not isinstance(event, Interrupted):
                        await self.look()
        except TierUnavailable:
            await asyncio.sleep(0)  # the look each second goes on
