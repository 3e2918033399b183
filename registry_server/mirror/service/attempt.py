"""One sync, from the question upstream to the new version."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import datetime
from functools import partial

import structlog

from registry_server.history.service import HistoryIndex
from registry_server.mirror.errors import RepositoryBroken, SyncHeld
from registry_server.mirror.models import Sync
from registry_server.mirror.repository import MirrorRepository
from registry_server.mirror.schemas import (
    Line,
    RemoteTip,
    Standing,
    SyncMode,
    SyncOutcome,
    SyncPlan,
    SyncProgress,
    SyncRead,
    SyncStage,
    SyncTrigger,
)
from registry_server.mirror.service.applying import Applying, Rewritten
from registry_server.mirror.service.planning import find_files, find_line
from registry_server.mirror.service.tools import MirrorTools
from registry_server.objects.rules.loads import without_collection
from registry_server.objects.schemas import FileVersion, IndexCounts
from registry_server.objects.service import (
    GRAMMAR_VERSION,
    Chunks,
    ParserLost,
    parsing,
)
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
        #: A process that parsed beside this one was lost.
        self.alone = False

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
        head = await upstream.head(tip.branch)
        if head != tip.commit:
            await self._tell(SyncStage.FETCHING)
            await upstream.fetch()
            head = await upstream.head(tip.branch)
        if head is None:
            raise RepositoryBroken("The mirrored repository has no such branch.")
        self.wanted = head
        await self._tell(SyncStage.READING)
        sync, counts = await self._synced(state, RemoteTip(tip.branch, head), known)
        await self.service.versions.raise_to(sync.id)
        await self.service.versions.announce(sync.id)
        if self.service.applied is not None:
            await self.service.applied()
        await self._tell(SyncStage.ENDED, sync.outcome)
        self.service.observer.synced(sync, counts)
        log.info("registry_synced", version=sync.id, commit=head, mode=sync.mode, changed=sync.changed)
        return sync

    async def _synced(
        self, state: Standing, tip: RemoteTip, known: str | None
    ) -> tuple[SyncRead, IndexCounts]:
        """Find out what is new, and apply it: all of it where the line was rewritten."""
        base = state.commit if state.grammar == GRAMMAR_VERSION else None
        while True:
            try:
                return await self._brought(state, tip, base, known)
            except Rewritten:
                base = None
            except ParserLost:
                if self.alone:
                    raise
                log.warning("registry_parser_lost")
                self.alone = True

    async def _brought(
        self, state: Standing, tip: RemoteTip, base: str | None, known: str | None
    ) -> tuple[SyncRead, IndexCounts]:
        """Ask git at once for all there is to know; what the commits say takes longest."""
        upstream = self.service.upstream
        with without_collection():
            async with upstream.reading() as reading:
                planning = asyncio.create_task(self._plan(state, tip, base))
                telling = asyncio.create_task(find_line(upstream, known, tip.commit))
                try:
                    plan = await planning
                    return await self._carried_out(plan, reading.read(plan.entries), telling)
                finally:
                    await end(planning, telling)

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

    async def _plan(self, state: Standing, tip: RemoteTip, base: str | None) -> SyncPlan:
        self.mode, (removed, entries) = await find_files(self.service.upstream, base, tip.commit)
        return SyncPlan(
            mode=self.mode,
            base=state.commit,
            version=state.version,
            branch=tip.branch,
            commit=tip.commit,
            removed=removed,
            entries=entries,
        )

    async def _carried_out(
        self, plan: SyncPlan, files: Chunks, line: asyncio.Task[Line]
    ) -> tuple[SyncRead, IndexCounts]:
        """The plan, applied. A few files are read before, so that nobody waits to write meanwhile."""
        telling = asyncio.create_task(self._tell(SyncStage.APPLYING))
        try:
            reached = await self.service.versions.current() or 0
            if len(plan.entries) <= _FEW:
                files = _again([some async for some in files])
            await telling
        finally:
            await end(telling)
        applying = Applying(self.service, plan, line, force=self.force)
        read = partial(self._read_applied, plan)
        if plan.mode is SyncMode.INCREMENTAL:
            return await applying.change(files, reached, read)
        async with parsing(files, 0 if self.alone else len(plan.entries)) as parsed:
            return await applying.replace(parsed, reached, read)

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

    def _read_applied(self, plan: SyncPlan, number: int) -> SyncRead:
        return self._read(number, SyncOutcome.APPLIED, None, len(plan.removed), len(plan.entries))

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
