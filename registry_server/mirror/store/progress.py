"""How far a sync has come, for whoever looks meanwhile. What a sync did stands in SQL alone."""

from __future__ import annotations

from dataclasses import dataclass

import structlog

from registry_server.mirror.schemas import SyncProgress
from registry_server.runtime_keys import RUNTIME_BUILD
from shared.runtime_state import RedisRuntimeClient, RuntimeStateUnavailable

log = structlog.get_logger(__name__)

#: One sync runs at a time, so there is one job.
JOB = "registry-sync"


@dataclass(frozen=True, slots=True)
class SyncBoard:
    """`runtime:build:registry-sync`. Whatever becomes of it, no sync fails for its sake."""

    state: RedisRuntimeClient

    async def show(self, progress: SyncProgress) -> None:
        """Say how far it is; a store that is away is only mentioned."""
        key = RUNTIME_BUILD.key(job=JOB)
        try:
            await self.state.set(key, progress.model_dump_json(), ex=RUNTIME_BUILD.ttl)
        except RuntimeStateUnavailable as error:
            log.warning("registry_sync_progress_not_shown", stage=progress.stage, code=error.code)

    async def find(self) -> SyncProgress | None:
        """What was last said, if anything is there."""
        try:
            raw = await self.state.get(RUNTIME_BUILD.key(job=JOB))
        except RuntimeStateUnavailable:
            return None
        return SyncProgress.model_validate_json(raw) if raw is not None else None
