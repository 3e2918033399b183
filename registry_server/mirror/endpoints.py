"""JSON routes of the mirror."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter

from registry_server.mirror.dependencies import Mirror, Syncer
from registry_server.mirror.schemas import MirrorStatus, SyncRead, SyncRequest, SyncTrigger
from shared.web.problems import Problem

_REFUSED: dict[int | str, dict[str, Any]] = {
    409: {"model": Problem, "description": "Held by the guard, or another process is syncing"},
    503: {"model": Problem, "description": "Upstream cannot be fetched or read; the last good state serves"},
}

router = APIRouter(prefix="/registry/api/v1", tags=["mirror"])


@router.get("/status")
async def get_status(mirror: Mirror) -> MirrorStatus:
    """What is served, how fresh it is, what is wrong with it, and the last syncs."""
    return await mirror.status()


@router.post("/sync", responses=_REFUSED)
async def start_sync(_syncer: Syncer, mirror: Mirror, wanted: SyncRequest | None = None) -> SyncRead:
    """Bring the index up to upstream now; the answer comes when new look-ups see it."""
    return await mirror.sync(SyncTrigger.REQUEST, force=wanted is not None and wanted.force)
