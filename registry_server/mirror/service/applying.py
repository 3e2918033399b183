"""The one transaction of a sync: objects and all that is derived, the history and the sync, or nothing."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import aclosing
from dataclasses import asdict, dataclass, field
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

#: Brings the index to where the plan wants it, in this session's transaction, from what it held before.
_Change = Callable[[Any, IndexCounts], Awaitable[IndexCounts]]
#: The sync with this number.
_Numbered = Callable[[int], SyncRead]


class Rewritten(Exception):
    """Upstream's line is another one than that which was applied."""


@dataclass(slots=True)
class Applying:
    """One plan that is carried out."""

    service: MirrorTools
    plan: SyncPlan
    line: asyncio.Task[Line]
    force: bool
    #: The line, once it is in the history.
    _told: Line | None = field(init=False, default=None)

    async def change(self, files: Chunks, reached: int, numbered: _Numbered) -> tuple[SyncRead, IndexCounts]:
        """Read anew what the plan touches. Raises SyncHeld, SyncRunning, or Rewritten."""

        def change(session: Any, before: IndexCounts) -> Awaitable[IndexCounts]:
            return ObjectIndex.within(session).apply(before, self.plan.touched, files)

        return await self._apply(change, reached, numbered)

    async def replace(
        self, parsed: Parsed, reached: int, numbered: _Numbered
    ) -> tuple[SyncRead, IndexCounts]:
        """Hold nothing but what was parsed. Raises SyncHeld, or SyncRunning."""

        async def change(session: Any, _before: IndexCounts) -> IndexCounts:
            await make_room(session)
            return await ObjectIndex.within(session).replace_all(self._between(session, parsed))

        return await self._apply(change, reached, numbered)

    async def _apply(
        self, change: _Change, reached: int, numbered: _Numbered
    ) -> tuple[SyncRead, IndexCounts]:
        plan = self.plan
        async with self.service.database.transaction() as session:
            repository = MirrorRepository(session)
            state = await repository.lock()
            if (state.commit, state.version) != (plan.base, plan.version):
                raise SyncRunning("Another process has synced meanwhile.")
            counts = await self._index(session, IndexCounts(**state.counts), change)
            line = await self._remembered(session)
            # Never below a version that the tier has reached, even if this database was restored.
            sync = numbered(max(state.last_sync, reached + 1))
            reached_now = self._reached(line, sync, counts)
            await repository.advance(reached_now, sync, self.service.settings.history)
        return sync, counts

    async def _between(self, session: Any, parsed: Parsed) -> Parsed:
        """What was parsed, and between two parts the history, as soon as git has told it."""
        async with aclosing(parsed):
            async for rows in parsed:
                if self.line.done():
                    await self._remembered(session)
                yield rows

    async def _remembered(self, session: Any) -> Line:
        """The new commits, put into the history. Raises Rewritten where they do not build on the old one."""
        if self._told is None:
            told, plan = await self.line, self.plan
            known = plan.mode is SyncMode.FULL or plan.base is None or told.base == plan.base
            if not known and not await self.service.upstream.is_ancestor(plan.base or "", plan.commit):
                raise Rewritten
            await HistoryIndex.within(session).extend(told.base, told.commits)
            self._told = told
        return self._told

    async def _index(self, session: Any, before: IndexCounts, change: _Change) -> IndexCounts:
        """The index as the plan wants it. Raises SyncHeld."""
        settings = self.service.settings
        weighed = not self.force and is_to_be_weighed(self.plan, before, settings)
        had = await self._weight(session) if weighed else None
        counts = await change(session, before)
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
