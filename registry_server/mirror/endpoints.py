"""JSON routes of the mirror."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, BackgroundTasks, Request, Response, status

from registry_server.conditional.dependencies import IfChanged
from registry_server.mirror.dependencies import Mirror, Page, Syncer
from registry_server.mirror.schemas import MirrorStatus, SyncPage, SyncRead, SyncRequest, SyncTrigger
from shared.web.problems import Problem

_REFUSED: dict[int | str, dict[str, Any]] = {
    409: {"model": Problem, "description": "Held by the guard, or another process is syncing"},
    503: {"model": Problem, "description": "Upstream cannot be fetched or read; the last good state serves"},
}

_SIGNED: dict[int | str, dict[str, Any]] = {
    401: {"model": Problem, "description": "Not signed with the secret"},
    404: {"model": Problem, "description": "No webhook is configured"},
}

_KNOWN: dict[int | str, dict[str, Any]] = {304: {"description": "The client has it already"}}
_PASSING = frozenset({"lag_seconds"})

router = APIRouter(prefix="/registry/api/v1", tags=["mirror"])


@router.get("/status", response_model=MirrorStatus, responses=_KNOWN)
async def get_status(mirror: Mirror, if_changed: IfChanged) -> Response:
    """What is served, how fresh it is, what is wrong with it, and the last syncs.

    The validator leaves `lag_seconds` out: it is the time since `checked_at`, and grows by itself.
    """
    return if_changed.answer(await mirror.status(), passing=_PASSING)


@router.get("/syncs", response_model=SyncPage, responses=_KNOWN)
async def list_syncs(mirror: Mirror, page: Page, if_changed: IfChanged) -> Response:
    """Syncs that changed something, were held or failed, newest first."""
    return if_changed.answer(await mirror.syncs(page.cursor, page.limit))


@router.post("/webhook", status_code=status.HTTP_202_ACCEPTED, response_class=Response, responses=_SIGNED)
async def take_webhook(request: Request, mirror: Mirror, later: BackgroundTasks) -> Response:
    """A forge says that there was a push: sync soon. Signed with the webhook's secret."""
    mirror.check_webhook(await request.body(), request.headers)
    later.add_task(mirror.follow, SyncTrigger.WEBHOOK)
    return Response(status_code=status.HTTP_202_ACCEPTED, background=later)


@router.post("/sync", responses=_REFUSED)
async def start_sync(_syncer: Syncer, mirror: Mirror, wanted: SyncRequest | None = None) -> SyncRead:
    """Bring the index up to upstream now; the answer comes when new look-ups see it."""
    return await mirror.sync(SyncTrigger.REQUEST, force=wanted is not None and wanted.force)
