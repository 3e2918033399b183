"""Portal route of signing out of this browser."""

from __future__ import annotations

from fastapi import APIRouter, Response
from fastapi.responses import RedirectResponse

from auth_server.sessions.dependencies import MaybeSignedIn, Sessions, drop_cookie
from auth_server.sessions.rules import SIGN_IN_PAGE

router = APIRouter(prefix="/auth", include_in_schema=False)


@router.post("/sign-out")
async def sign_out(signed_in: MaybeSignedIn, sessions: Sessions) -> Response:
    """End this browser's session."""
    if signed_in is not None:
        await sessions.end(signed_in.session_id, by=signed_in.principal)
    response = RedirectResponse(SIGN_IN_PAGE, status_code=303)
    drop_cookie(response)
    return response
