"""Follows upstream: each new commit becomes one transaction on the index, and then a new version."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta

import structlog

from registry_server.mirror.errors import (
    RepositoryBroken,
    SyncHeld,
    SyncRunning,
    UpstreamUnavailable,
    WebhookNotConfigured,
    WebhookRefused,
)
from registry_server.mirror.repository import MirrorRepository
from registry_server.mirror.rules.webhook import is_signed
from registry_server.mirror.schemas import (
    MirrorStatus,
    SyncOutcome,
    SyncPage,
    SyncProgress,
    SyncRead,
    SyncStage,
    SyncTrigger,
)
from registry_server.mirror.service.attempt import Attempt
from registry_server.mirror.service.tools import MirrorTools
from registry_server.objects.rules.cursors import read_cursor, write_cursor
from registry_server.objects.schemas import IndexCounts

log = structlog.get_logger(__name__)
_SHOWN_SYNCS = 20
_IF_RIGHT = "Look at it; if it is right, sync by force."
#: A step takes longer than its one git command, but not by so much.
_SILENCE = timedelta(minutes=1)


@dataclass(frozen=True, slots=True)
class MirrorService(MirrorTools):
    """The one writer of the index."""

    async def sync(self, trigger: SyncTrigger, *, force: bool = False) -> SyncRead:
        """Bring the index up to upstream. Whatever is refused here, the last good state keeps serving.

        `force` also applies what the guard holds. Raises SyncRunning, SyncHeld, UpstreamUnavailable or
        RepositoryBroken, each of which but the first is remembered in the history.
        """
        async with self.lock.hold():
            attempt = Attempt(self, trigger, force=force, began=self.now())
            try:
                return await attempt.run()
            except RepositoryBroken as refusal:
                # The copy may be what is broken: the next attempt fetches anew.
                await self.upstream.discard()
                await attempt.remember(refusal, SyncOutcome.FAILED)
                raise
            except UpstreamUnavailable as refusal:
                await attempt.remember(refusal, SyncOutcome.FAILED)
                raise
            except SyncHeld as refusal:
                await attempt.remember(refusal, SyncOutcome.HELD)
                raise SyncHeld(f"{refusal.detail} {_IF_RIGHT}") from None

    async def follow(self, trigger: SyncTrigger) -> None:
        """Sync for whoever does not wait for the outcome, which is remembered, logged and shown.

        Where a sync waits for its turn already, that one will see what this one would.
        """
        if self.lock.awaited:
            return
        try:
            await self.sync(trigger)
        except (RepositoryBroken, SyncHeld, SyncRunning, UpstreamUnavailable):
            return

    async def heal(self) -> None:
        """Bring the tier's version up to SQL's: a process may have died between the commit and the step."""
        async with self.database.reading() as session:
            state = await MirrorRepository(session).get_state()
        if state.version:
            await self.versions.raise_to(state.version)

    async def status(self) -> MirrorStatus:
        """What is served, since when, and how the last syncs went."""
        async with self.database.reading() as session:
            repository = MirrorRepository(session)
            state = await repository.get_state()
            syncs = await repository.list_latest(_SHOWN_SYNCS)
        running = await self._running()
        lag = None if state.checked_at is None else max(self.now() - state.checked_at, timedelta(0))
        return MirrorStatus(
            version=state.version,
            commit=state.commit,
            committed_at=state.committed_at,
            applied_at=state.applied_at,
            checked_at=state.checked_at,
            lag_seconds=None if lag is None else int(lag.total_seconds()),
            stale=lag is not None and lag > self.settings.ready_within,
            branch=state.branch,
            counts=IndexCounts(**state.counts),
            syncs=[SyncRead.model_validate(sync) for sync in syncs],
            running=running,
        )

    async def syncs(self, cursor: str | None, limit: int) -> SyncPage:
        """The history of syncs. Raises InvalidInput."""
        ended = read_cursor(cursor, int)
        async with self.database.reading() as session:
            found = await MirrorRepository(session).list_latest(limit + 1, int(ended[0]) if ended else None)
        items = [SyncRead.model_validate(sync) for sync in found[:limit]]
        return SyncPage(items=items, next=write_cursor(items[-1].id) if len(found) > limit else None)

    def check_webhook(self, body: bytes, headers: Mapping[str, str]) -> None:
        """Raises WebhookNotConfigured, or WebhookRefused for what is not signed with the secret."""
        secret = self.settings.webhook_secret
        if secret is None or not secret.get_secret_value():
            raise WebhookNotConfigured
        if not is_signed(body, headers, secret.get_secret_value()):
            raise WebhookRefused

    async def _running(self) -> SyncProgress | None:
        """The sync that runs now; a process that died says nothing, and is forgotten after a while."""
        found = await self.board.find()
        if found is None or found.stage is SyncStage.ENDED:
            return None
        silent_for = self.now() - found.heartbeat_at
        return found if silent_for <= self.settings.time_limit + _SILENCE else None
