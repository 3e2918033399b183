"""Keeps the snapshot of this process up to SQL, and swaps it as a whole."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import structlog

from registry_server.objects.rules.loads import without_collection
from registry_server.snapshot.repository import SnapshotRepository
from registry_server.snapshot.rules import build
from registry_server.snapshot.schemas.content import Facts, Snapshot
from registry_server.snapshot.store import give_back
from shared.database import Database, DatabaseUnavailable
from shared.kernel.clock import Clock

log = structlog.get_logger(__name__)
#: Reading a large registry takes a second; who waits for longer is better told that there is nothing yet.
_SOON = timedelta(seconds=5)
Follower = Callable[[Snapshot], Awaitable[None]]


class SnapshotKeeper:
    """`current` is the last sync that this process has read; SQL is the truth, and stays so when it is away.

    While SQL cannot be read the last snapshot goes on answering, and `checked_at` grows old, by which those
    who must not serve what is stale notice it.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self._turn = asyncio.Lock()
        self._followers: list[Follower] = []
        self._anew = False
        self.current: Snapshot | None = None
        self.facts: Facts | None = None

    @property
    def checked_at(self) -> datetime | None:
        """When upstream last had nothing newer than what is served, as far as this process knows."""
        return self.facts.checked_at if self.facts else None

    def follow(self, follower: Follower) -> None:
        """Have the follower called with each new snapshot before that is `current`, from the next one on."""
        self._followers.append(follower)
        self._anew = True

    async def opened(self) -> None:
        """Return once SQL was looked at: whoever asks right after a start is told what the last sync left.

        Raises DatabaseUnavailable.
        """
        if self._is_unopened():
            async with self._turn:
                if self._is_unopened():
                    await self._look()

    async def opened_soon(self) -> None:
        """As `opened`, but not for long, and no error where SQL is away: for who can do without."""
        with suppress(DatabaseUnavailable, TimeoutError):
            async with asyncio.timeout(_SOON.total_seconds()):
                await self.opened()

    def _is_unopened(self) -> bool:
        return self.facts is None or self._anew

    async def refresh(self) -> None:
        """Look whether there was a sync, and take it over. Raises DatabaseUnavailable."""
        async with self._turn:
            await self._look()

    async def _look(self) -> None:
        async with self._database.reading() as session:
            repository = SnapshotRepository(session)
            facts = await repository.facts()
            rows = await repository.rows(facts) if self._is_behind(facts) else None
        if rows is not None:
            with without_collection():
                snapshot = await asyncio.to_thread(build, rows)
                del rows
                await self._take(snapshot)
        # Where there is no sync yet, its snapshot will be new to every follower.
        self.facts, self._anew = facts, False

    async def _take(self, snapshot: Snapshot) -> None:
        for follower in self._followers:
            await follower(snapshot)
        # With the facts, and at once: whoever was told of the change asks at the next moment.
        self.current, self.facts, self._anew = snapshot, snapshot.facts, False
        await asyncio.to_thread(give_back)
        log.info("snapshot_taken", version=snapshot.facts.version, objects=len(snapshot.entries))

    def _is_behind(self, facts: Facts) -> bool:
        if self.current is None or self._anew:
            return facts.version > 0
        return facts.version != self.current.facts.version


@dataclass(frozen=True, slots=True)
class Freshness:
    """Tells of a mirror that upstream was not seen by for too long: it looks well, and is not."""

    snapshots: SnapshotKeeper
    within: timedelta
    #: A process that never saw a sync counts from its own start.
    started_at: datetime
    now: Clock

    def refusal(self) -> dict[str, Any] | None:
        """Why this process should not be asked, or None."""
        checked_at = self.snapshots.checked_at
        lag = self.now() - (checked_at or self.started_at)
        if lag <= self.within:
            return None
        shown = checked_at.isoformat() if checked_at else None
        return {"registry": "stale", "checked_at": shown, "lag_seconds": int(lag.total_seconds())}
