"""One sync, from the question upstream to the new version."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import datetime
from typing import Any

import structlog

from registry_server.history.schemas import LoggedCommit
from registry_server.history.service import HistoryIndex
from registry_server.mirror.errors import SyncHeld, SyncRunning
from registry_server.mirror.models import Sync
from registry_server.mirror.repository import MirrorRepository
from registry_server.mirror.rules.guard import doubt, is_to_be_weighed, losses
from registry_server.mirror.rules.output import net_difference, tip_of, tree_of
from registry_server.mirror.schemas import (
    LocalTip,
    Standing,
    SyncMode,
    SyncOutcome,
    SyncPlan,
    SyncProgress,
    SyncRead,
    SyncStage,
    SyncTrigger,
    TreeEntry,
    Weight,
)
from registry_server.mirror.service.tools import MirrorTools
from registry_server.objects.rules.loads import without_collection
from registry_server.objects.schemas import FileVersion, IndexCounts
from registry_server.objects.service import GRAMMAR_VERSION, Chunks, ObjectIndex
from shared.kernel.errors import AppError
from shared.kernel.tasks import end

log = structlog.get_logger(__name__)
#: So many files are held in memory, as a sync of everything holds them too at a time.
_FEW = 2000


class Attempt:
    """One sync from the question upstream to the new version."""

    def __init__(self, service: MirrorTools, trigger: SyncTrigger, *, force: bool, began: datetime) -> None:
        self.service = service
        self.trigger = trigger
        self.force = force
        self.began = began
        self.base: str | None = None
        self.wanted: str | None = None
        self.mode: SyncMode | None = None

    async def run(self) -> SyncRead:
        upstream = self.service.upstream
        await upstream.prepare()
        # To ask upstream takes as long as all that is to be known of ourselves.
        asking = asyncio.create_task(upstream.ask())
        try:
            await self._tell(SyncStage.ASKING)
            state, known = await self._look()
            tip = await asking
        finally:
            await end(asking)
        self.wanted = tip.commit
        self.base = state.commit
        if state.commit == tip.commit and state.grammar == GRAMMAR_VERSION:
            return await self._nothing_new(state)
        if state.outcome == SyncOutcome.HELD and state.to_commit == tip.commit and not self.force:
            raise SyncHeld(state.detail)
        if not await upstream.holds(tip):
            await self._tell(SyncStage.FETCHING)
            await upstream.fetch()
        await self._tell(SyncStage.READING)
        plan, sync, counts = await self._synced(state, tip.branch, known)
        await self.service.versions.raise_to(sync.id)
        await self.service.versions.announce(sync.id)
        if self.service.applied is not None:
            await self.service.applied()
        await self._tell(SyncStage.ENDED, sync.outcome)
        self.service.observer.synced(sync, counts)
        log.info("registry_synced", version=sync.id, commit=plan.commit, mode=plan.mode, changed=sync.changed)
        return sync

    async def _synced(
        self, state: Standing, branch: str, known: str | None
    ) -> tuple[SyncPlan, SyncRead, IndexCounts]:
        """Find out what is new, and apply it. What reads the files begins while git says which they are."""
        planning = asyncio.create_task(self._plan(state, branch, known))
        try:
            await asyncio.sleep(0)  # first come, first started
            async with self.service.upstream.reading() as reading:
                plan = await planning
                return plan, *await self._carried_out(plan, reading.read(plan.entries))
        finally:
            await end(planning)

    async def _look(self) -> tuple[Standing, str | None]:
        """Where the mirror stands, and the newest commit of the history."""
        async with self.service.database.reading() as session:
            state = await MirrorRepository(session).find_standing()
            return state, await HistoryIndex.within(session).last()

    async def _nothing_new(self, state: Standing) -> SyncRead:
        service = self.service
        async with service.database.transaction() as session:
            await MirrorRepository(session).set_checked(state.commit or "", self.began)
        await service.versions.raise_to(state.version)
        sync = self._read(state.version, SyncOutcome.UNCHANGED, None)
        await self._tell(SyncStage.ENDED, sync.outcome)
        service.observer.synced(sync, None)
        return sync

    async def _plan(self, state: Standing, branch: str, known: str | None) -> SyncPlan:
        upstream = self.service.upstream
        tip, history_base, commits = await self._new_commits(branch, known)
        self.wanted = tip.commit
        base = state.commit if state.grammar == GRAMMAR_VERSION else None
        self.mode = SyncMode.INCREMENTAL
        if base is not None and history_base == base:
            # What follows the base on the main line says all that git could be asked for.
            removed, entries = net_difference(commits)
        elif base is not None and await upstream.is_ancestor(base, tip.commit):
            removed, entries = await upstream.difference(base, tip.commit)
        else:
            self.mode = SyncMode.FULL
            removed, entries = [], await self._tree(tip, history_base, commits)
        return SyncPlan(
            mode=self.mode,
            base=state.commit,
            version=state.version,
            branch=branch,
            commit=tip.commit,
            committed_at=tip.committed_at,
            removed=removed,
            entries=[entry for entry in entries if entry.path.startswith(b"data/")],
            history_base=history_base,
            commits=commits,
        )

    async def _tree(
        self, tip: LocalTip, history_base: str | None, commits: list[LoggedCommit]
    ) -> list[TreeEntry]:
        """Every file of the tip; what all commits of its line come to, where they were read anyway."""
        if history_base is None and commits:
            with without_collection():
                return await asyncio.to_thread(tree_of, commits)
        return await self.service.upstream.tree(tip.commit)

    async def _new_commits(
        self, branch: str, known: str | None
    ) -> tuple[LocalTip, str | None, list[LoggedCommit]]:
        """The tip, and what to add to the history after which commit: all of it where the line is another."""
        upstream = self.service.upstream
        following = await upstream.log(known, f"refs/heads/{branch}") if known else None
        if following:
            return tip_of(following), known, following
        tip = await upstream.tip(branch)
        if tip.commit == known:
            return tip, known, []
        return tip, None, await upstream.log(None, tip.commit) or []

    async def _carried_out(self, plan: SyncPlan, files: Chunks) -> tuple[SyncRead, IndexCounts]:
        """The plan, applied. A few files are read before, so that nobody waits to write meanwhile."""
        telling = asyncio.create_task(self._tell(SyncStage.APPLYING))
        try:
            reached = await self.service.versions.current() or 0
            if len(plan.entries) <= _FEW:
                files = _again([some async for some in files])
            await telling
        finally:
            await end(telling)
        return await self._apply(plan, files, reached)

    async def _apply(self, plan: SyncPlan, files: Chunks, reached: int) -> tuple[SyncRead, IndexCounts]:
        """The one transaction: objects and all that is derived, the sync and the commit, or nothing."""
        service = self.service
        async with service.database.transaction() as session:
            repository = MirrorRepository(session)
            state = await repository.lock()
            if (state.commit, state.version) != (plan.base, plan.version):
                raise SyncRunning("Another process has synced meanwhile.")
            counts, changed = await self._indexed(
                session, IndexCounts.model_validate(state.counts), plan, files
            )
            await HistoryIndex.within(session).extend(plan.history_base, plan.commits)
            # Never below a version that the tier has reached, even if this database was restored.
            number = max(state.last_sync, reached + 1)
            sync = self._read(number, SyncOutcome.APPLIED, None, len(plan.removed), changed)
            await repository.advance(self._reached(plan, number, counts), sync, service.settings.history)
        return sync, counts

    async def _indexed(
        self, session: Any, before: IndexCounts, plan: SyncPlan, files: Chunks
    ) -> tuple[IndexCounts, int]:
        """The index as the plan wants it, and how many files were read. Raises SyncHeld."""
        index, settings = ObjectIndex.within(session), self.service.settings
        touched = [*plan.removed, *(entry.path for entry in plan.entries)]
        weighed = not self.force and is_to_be_weighed(plan.mode, touched, before, settings)
        had = await self._weight(session) if weighed else None
        if plan.mode is SyncMode.FULL:
            counts, changed = await index.replace_all(files)
        else:
            counts, changed = await index.apply(before, touched, files)
        more = losses(had, await self._weight(session)) if had else ()
        reason = doubt(before, counts, settings, more)
        if reason and not self.force:
            raise SyncHeld(f"Held: {reason}.")
        return counts, changed

    async def _weight(self, session: Any) -> Weight:
        """What others rely on, as the transaction has it."""
        return Weight(await ObjectIndex.within(session).sound(), await self.service.authorised(session))

    def _reached(self, plan: SyncPlan, number: int, counts: IndexCounts) -> dict[str, Any]:
        """Where the mirror stands afterwards."""
        return {
            "version": number,
            "last_sync": number,
            "commit": plan.commit,
            "branch": plan.branch,
            "grammar": GRAMMAR_VERSION,
            "committed_at": plan.committed_at,
            "applied_at": self.service.now(),
            "checked_at": self.began,
            "counts": counts.model_dump(),
        }

    async def remember(self, refusal: AppError, outcome: SyncOutcome) -> None:
        """Put the refusal into the history; the same one again is counted, not repeated."""
        async with self.service.database.transaction() as session:
            repository = MirrorRepository(session)
            latest = await repository.find_latest()
            same = (outcome, refusal.code, self.wanted)
            if latest is not None and (latest.outcome, latest.code, latest.to_commit) == same:
                latest.repeats += 1
                latest.finished_at = self.service.now()
                sync = SyncRead.model_validate(latest)
            else:
                state = await repository.lock_state()
                sync = self._read(state.last_sync, outcome, refusal)
                repository.add(Sync(**sync.model_dump()))
        await self._tell(SyncStage.ENDED, outcome, refusal.code)
        self.service.observer.synced(sync, None)
        log.warning("registry_sync_refused", outcome=outcome, code=refusal.code, detail=refusal.detail)

    async def _tell(
        self, stage: SyncStage, outcome: SyncOutcome | None = None, code: str | None = None
    ) -> None:
        """Say how far it is, never inside a transaction."""
        progress = SyncProgress(
            stage=stage,
            trigger=self.trigger,
            started_at=self.began,
            heartbeat_at=self.service.now(),
            to_commit=self.wanted,
            outcome=outcome,
            code=code,
        )
        await self.service.board.show(progress)

    def _read(
        self,
        number: int,
        outcome: SyncOutcome,
        refusal: AppError | None,
        removed: int = 0,
        changed: int = 0,
    ) -> SyncRead:
        return SyncRead(
            id=number,
            outcome=outcome,
            trigger=self.trigger,
            mode=self.mode,
            started_at=self.began,
            finished_at=self.service.now(),
            from_commit=self.base,
            to_commit=self.wanted,
            removed=removed,
            changed=changed,
            code=refusal.code if refusal else None,
            detail=refusal.detail if refusal else None,
        )


async def _again(chunks: Sequence[Sequence[FileVersion]]) -> Chunks:
    """What was read before."""
    for some in chunks:
        yield some
