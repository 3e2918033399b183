"""The one transaction of a sync: objects and all that is derived, the history and the sync, or nothing."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import asdict, dataclass
from typing import Any

from registry_server.history.service import HistoryIndex
from registry_server.mirror.errors import SyncHeld, SyncRunning
from registry_server.mirror.repository import MirrorRepository
from registry_server.mirror.rules.guard import doubt, is_to_be_weighed, losses
from registry_server.mirror.schemas import Line, SyncMode, SyncPlan, SyncRead, Weight
from registry_server.mirror.service.tools import MirrorTools
from registry_server.objects.schemas import IndexCounts
from registry_server.objects.service import GRAMMAR_VERSION, Chunks, ObjectIndex, Parsed
from shared.database import make_room

#: Brings the index to where the plan wants it, from what it held before.
_Change = Callable[[ObjectIndex, IndexCounts], Awaitable[IndexCounts]]
#: The sync with this number.
_Numbered = Callable[[int], SyncRead]


class Rewritten(Exception):
    """Upstream's line is another one than that which was applied."""


@dataclass(frozen=True, slots=True)
class Applying:
    """One plan that is carried out."""

    service: MirrorTools
    plan: SyncPlan
    line: asyncio.Task[Line]
    force: bool

    async def change(self, files: Chunks, reached: int, numbered: _Numbered) -> tuple[SyncRead, IndexCounts]:
        """Read anew what the plan touches. Raises SyncHeld, SyncRunning, or Rewritten."""

        def change(index: ObjectIndex, before: IndexCounts) -> Awaitable[IndexCounts]:
            return index.apply(before, self.plan.touched, files)

        return await self._apply(change, reached, numbered)

    async def replace(
        self, parsed: Parsed, reached: int, numbered: _Numbered
    ) -> tuple[SyncRead, IndexCounts]:
        """Hold nothing but what was parsed. Raises SyncHeld, or SyncRunning."""

        def change(index: ObjectIndex, _before: IndexCounts) -> Awaitable[IndexCounts]:
            return index.replace_all(parsed)

        return await self._apply(change, reached, numbered)

    async def _apply(
        self, change: _Change, reached: int, numbered: _Numbered
    ) -> tuple[SyncRead, IndexCounts]:
        service, plan = self.service, self.plan
        async with service.database.transaction() as session:
            repository = MirrorRepository(session)
            state = await repository.lock()
            if (state.commit, state.version) != (plan.base, plan.version):
                raise SyncRunning("Another process has synced meanwhile.")
            full = plan.mode is SyncMode.FULL
            if full:
                await make_room(session)
            # While files are parsed SQLite has nothing to do; PostgreSQL has more to do than whoever parses.
            first = full and service.database.dialect == "sqlite"
            told = await self._remember(session) if first else None
            counts = await self._index(session, IndexCounts(**state.counts), change)
            told = told or await self._remember(session)
            # Never below a version that the tier has reached, even if this database was restored.
            sync = numbered(max(state.last_sync, reached + 1))
            await repository.advance(self._reached(told, sync, counts), sync, service.settings.history)
        return sync, counts

    async def _remember(self, session: Any) -> Line:
        """Put the new commits into the history. Raises Rewritten where they do not build on the old one."""
        told, plan = await self.line, self.plan
        known = plan.mode is SyncMode.FULL or plan.base is None or told.base == plan.base
        if not known and not await self.service.upstream.is_ancestor(plan.base or "", plan.commit):
            raise Rewritten
        await HistoryIndex.within(session).extend(told.base, told.commits)
        return told

    async def _index(self, session: Any, before: IndexCounts, change: _Change) -> IndexCounts:
        """The index as the plan wants it. Raises SyncHeld."""
        index, settings = ObjectIndex.within(session), self.service.settings
        weighed = not self.force and is_to_be_weighed(self.plan, before, settings)
        had = await self._weight(session) if weighed else None
        counts = await change(index, before)
        more = losses(had, await self._weight(session)) if had else ()
        reason = doubt(before, counts, settings, more)
        if reason and not self.force:
            raise SyncHeld(f"Held: {reason}.")
        return counts

    async def _weight(self, session: Any) -> Weight:
        """What others rely on, as the transaction has it."""
        return Weight(await ObjectIndex.within(session).sound(), await self.service.authorised(session))

    def _reached(self, line: Line, sync: SyncRead, counts: IndexCounts) -> dict[str, Any]:
        """Where the mirror stands afterwards."""
        return {
            "version": sync.id,
            "last_sync": sync.id,
            "commit": self.plan.commit,
            "branch": self.plan.branch,
            "grammar": GRAMMAR_VERSION,
            "committed_at": line.committed_at,
            "applied_at": sync.finished_at,
            "checked_at": sync.started_at,
            "counts": asdict(counts),
        }
