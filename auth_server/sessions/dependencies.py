"""Wiring of sessions: whose browser asks, and the cookie that says so."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import Annotated
from urllib.parse import quote

from fastapi import Depends, FastAPI, Query, Request
from sqlalchemy.ext.asyncio import AsyncSession
from starlette.requests import HTTPConnection
from starlette.responses import RedirectResponse, Response

from auth_server.accounts.dependencies import Administrator, AfterAccountChange
from auth_server.accounts.schemas import AccountChanged
from auth_server.audit.dependencies import AuditTrail, audit_service
from auth_server.audit.service import Audit
from auth_server.keys import SIGN_IN_FAILURES
from auth_server.resources import AuthResources
from auth_server.sessions.errors import StepUpNeeded
from auth_server.sessions.repository import SessionRepository
from auth_server.sessions.rules import FIRST_PAGE, LONGEST_NEXT, STEP_UP_PAGE, is_fresh, safe_next
from auth_server.sessions.schemas import Browser, SessionEnded, SignedIn
from auth_server.sessions.service import SessionService
from auth_server.sessions.store import LastUses
from shared.cache.throttling import SignInThrottle
from shared.kernel.errors import Unauthenticated
from shared.kernel.principal import Principal
from shared.web.forms import FormRefused
from shared.web.transactions import Session

#: Host-bound, unreadable for scripts, and never sent to another path or over plain http but on localhost.
SESSION_COOKIE = "__Host-rl_auth"

#: Acts inside the transaction that ends a session; registered in `app.py`.
AfterSessionEnd = Callable[[AsyncSession, SessionEnded], Awaitable[None]]


def sign_in_throttle(resources: AuthResources) -> SignInThrottle:
    """One for the life of the process: it knows the attempts that are under way."""
    return SignInThrottle.on(resources.kv, SIGN_IN_FAILURES, resources.now)


def session_service(
    resources: AuthResources,
    session: AsyncSession,
    audit: Audit,
    last_uses: LastUses | None = None,
    listeners: Sequence[AfterSessionEnd] = (),
) -> SessionService:
    """Sessions inside a session of the database that is not the request's own."""
    return SessionService(
        SessionRepository(session),
        audit,
        resources.settings.sign_in,
        resources.now,
        LastUses() if last_uses is None else last_uses,
        [partial(listener, session) for listener in listeners],
    )


def _sessions(request: Request, session: Session, audit: AuditTrail) -> SessionService:
    state = request.app.state
    return session_service(state.resources, session, audit, state.last_uses, state.after_session_end)


Sessions = Annotated[SessionService, Depends(_sessions)]


def end_sessions_with_account(app: FastAPI, resources: AuthResources) -> AfterAccountChange:
    """Ends the sessions of accounts that are disabled or whose credentials are reset."""

    async def act(session: AsyncSession, changed: AccountChanged) -> None:
        await sessions_of(app, resources, session).end_with_account(changed)

    return act


def sessions_of(app: FastAPI, resources: AuthResources, session: AsyncSession) -> SessionService:
    """Sessions inside a transaction that is not a request's own."""
    audit = audit_service(session, resources.now)
    return session_service(resources, session, audit, app.state.last_uses, app.state.after_session_end)


async def find_signed_in(connection: HTTPConnection) -> SignedIn | None:
    """Whose browser asks, looked up once a request in a snapshot of its own."""
    state = connection.state
    if not hasattr(state, "signed_in"):
        cookie = connection.cookies.get(SESSION_COOKIE)
        state.signed_in = await _look_up(connection, cookie) if cookie else None
        state.principal = state.signed_in.principal if state.signed_in else None
    found: SignedIn | None = state.signed_in
    return found


async def _look_up(connection: HTTPConnection, cookie: str) -> SignedIn | None:
    resources: AuthResources = connection.app.state.resources
    async with resources.database.reading() as session:
        audit = audit_service(session, resources.now)
        service = session_service(resources, session, audit, connection.app.state.last_uses)
        return await service.find(cookie)


async def get_signed_in(found: Annotated[SignedIn | None, Depends(find_signed_in)]) -> SignedIn:
    """Whose browser asks. Raises Unauthenticated."""
    if found is None:
        raise Unauthenticated
    return found


async def get_fresh(
    connection: HTTPConnection, signed_in: Annotated[SignedIn, Depends(get_signed_in)]
) -> SignedIn:
    """Whose browser asks, with a passkey used a moment ago. Raises Unauthenticated or StepUpNeeded."""
    if not is_fresh(signed_in.stepped_up_at, connection.app.state.resources.now()):
        raise StepUpNeeded
    return signed_in


async def get_fresh_for_form(
    connection: HTTPConnection,
    signed_in: Annotated[SignedIn, Depends(get_signed_in)],
    back: Annotated[str, Query(max_length=LONGEST_NEXT)] = FIRST_PAGE,
) -> SignedIn:
    """The same for a form: where a passkey is due, the person is sent to confirm, and `back` afterwards."""
    try:
        return await get_fresh(connection, signed_in)
    except StepUpNeeded as refusal:
        there = f"{STEP_UP_PAGE}?next={quote(safe_next(back, FIRST_PAGE), safe='')}"
        raise FormRefused(refusal, lambda _: RedirectResponse(there, status_code=303)) from refusal


MaybeSignedIn = Annotated[SignedIn | None, Depends(find_signed_in)]
SignedInSession = Annotated[SignedIn, Depends(get_signed_in)]
FreshSession = Annotated[SignedIn, Depends(get_fresh)]


async def _with_fresh_passkey(administrator: Administrator, _fresh: FreshSession) -> Principal:
    return administrator


#: Whoever lets programs or people in proves anew who they are; for JSON: refused with `step_up_needed`.
ConfirmedAdministrator = Annotated[Principal, Depends(_with_fresh_passkey)]
FreshForForm = Annotated[SignedIn, Depends(get_fresh_for_form)]


def browser_of(request: Request) -> Browser:
    """What is noted of the browser that asks."""
    address = request.client.host if request.client else ""
    return Browser(request.headers.get("user-agent", ""), address)


def keep_cookie(response: Response, cookie: str) -> None:
    """Hand the session's secret to the browser."""
    response.set_cookie(SESSION_COOKIE, cookie, secure=True, httponly=True, samesite="lax", path="/")


def drop_cookie(response: Response) -> None:
    """Take the session's secret from the browser."""
    response.delete_cookie(SESSION_COOKIE, secure=True, httponly=True, samesite="lax", path="/")
