"""JSON routes of a person's own sessions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Query, Response, status

from auth_server.sessions.dependencies import Sessions, SignedInSession, drop_cookie
from auth_server.sessions.models import BrowserSession
from auth_server.sessions.schemas import EndReason, SessionRead

router = APIRouter(prefix="/auth/api/v1/sessions", tags=["sessions"])


@router.get("")
async def list_sessions(signed_in: SignedInSession, sessions: Sessions) -> list[SessionRead]:
    """The person's signed-in browsers, last used first."""
    return as_read(await sessions.list(signed_in.account_id), signed_in.session_id)


@router.delete("", status_code=status.HTTP_204_NO_CONTENT)
async def end_all_sessions(
    signed_in: SignedInSession,
    sessions: Sessions,
    response: Response,
    keep_current: Annotated[bool, Query(description="Spare the browser that asks")] = False,  # noqa: FBT002
) -> None:
    """Sign out everywhere, or everywhere else."""
    kept = signed_in.session_id if keep_current else None
    await sessions.end_all(signed_in.account_id, kept, by=signed_in.principal)
    if not keep_current:
        drop_cookie(response)


@router.delete("/{session_id}", status_code=status.HTTP_204_NO_CONTENT)
async def end_session(session_id: UUID, signed_in: SignedInSession, sessions: Sessions) -> None:
    """End one of the person's own sessions."""
    owner = signed_in.account_id
    await sessions.end_of(owner, session_id, EndReason.ENDED_BY_OWNER, signed_in.principal)


def as_read(rows: Sequence[BrowserSession], current: UUID | None) -> list[SessionRead]:
    """Sessions as they are shown; `current` is that of the browser that asks."""
    return [
        SessionRead(
            id=row.id,
            device=row.device,
            from_address=row.from_address,
            auth_time=row.auth_time,
            last_used_at=row.last_used_at,
            current=row.id == current,
        )
        for row in rows
    ]
