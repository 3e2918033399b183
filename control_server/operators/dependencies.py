"""Wiring of the portal's sign-in."""

from __future__ import annotations

import secrets
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Annotated

from fastapi import Depends, FastAPI, Request
from starlette.requests import HTTPConnection
from starlette.responses import Response

from control_server.api_tokens.rules import source_of
from control_server.audit.dependencies import AuditTrail, audit_service
from control_server.keys import SIGN_IN_FAILURES
from control_server.operators.errors import SignInRefused, StepUpRefused, StepUpRequired
from control_server.operators.repository import OperatorRepository
from control_server.operators.rules.freshness import is_fresh
from control_server.operators.schemas import Browser, SignedInBrowser
from control_server.operators.service import OperatorService, Provider, SignIn
from control_server.operators.store import KvLogins, LoginStore, LoginsWithFallback, SqlLogins
from control_server.resources import ControlResources
from shared.cache.failures import failure_counters
from shared.cache.throttling import SignInThrottle
from shared.kernel.errors import AppError, Unauthenticated
from shared.kernel.principal import Principal
from shared.web.principals import find_principal
from shared.web.transactions import Session

#: Host-bound, unreadable for scripts, and never sent to another path or over plain http but on localhost.
SESSION_COOKIE = "__Host-rl_control"
#: Ties a sign-in to the browser that began it, so that nobody is signed in by a link of somebody else.
LOGIN_COOKIE = "__Host-rl_login"


async def _operators(request: Request, session: Session, audit: AuditTrail) -> OperatorService:
    resources: ControlResources = request.app.state.resources
    return OperatorService(OperatorRepository(session), audit, resources.settings.sessions, resources.now)


Operators = Annotated[OperatorService, Depends(_operators)]


def operators_of(
    resources: ControlResources, address: str = ""
) -> Callable[[], AbstractAsyncContextManager[OperatorService]]:
    """Opens a transaction with the service inside it."""

    @asynccontextmanager
    async def opened() -> AsyncIterator[OperatorService]:
        async with resources.database.transaction() as session:
            audit = audit_service(session, resources.now, address)
            yield OperatorService(
                OperatorRepository(session), audit, resources.settings.sessions, resources.now
            )

    return opened


async def _follower(request: Request) -> AsyncIterator[OperatorService]:
    """A link is followed by GET, which otherwise only reads: it needs a transaction of its own."""
    async with operators_of(request.app.state.resources, browser_of(request).address)() as operators:
        yield operators


LinkFollower = Annotated[OperatorService, Depends(_follower, scope="function")]


def prepare(app: FastAPI, resources: ControlResources) -> None:
    """What the routes of sign-in find in `app.state`."""
    app.state.provider = Provider(resources.settings, resources.http, resources.now)
    app.state.logins = login_store(resources)
    app.state.callbacks = callback_throttle(resources)
    app.state.step_up = require_fresh_proof


def callback_throttle(resources: ControlResources) -> SignInThrottle:
    """One for the life of the process: it knows the callbacks that are under way."""
    counters = failure_counters(resources.kv, SIGN_IN_FAILURES, resources.now)
    return SignInThrottle(resources.now, counters, _is_failed_callback)


def _is_failed_callback(refusal: AppError) -> bool:
    """Somebody who declined, or whom the sign-in service could not answer, has guessed at nothing."""
    return isinstance(refusal, SignInRefused | StepUpRefused)


def login_store(resources: ControlResources) -> LoginStore:
    """Where sign-ins wait for their callback."""
    sql = SqlLogins(resources.database, resources.now)
    if not resources.kv.configured:
        return sql
    return LoginsWithFallback(KvLogins(resources.kv, resources.now), sql)


async def _sign_in(request: Request) -> SignIn:
    state = request.app.state
    resources: ControlResources = state.resources
    provider: Provider = state.provider
    opened = operators_of(resources, browser_of(request).address)
    return SignIn(provider, state.logins, opened, resources.now)


SignIns = Annotated[SignIn, Depends(_sign_in)]


async def _callback_attempt(request: Request) -> AsyncIterator[None]:
    """Around the act itself, so that its refusal is counted. Raises SignInThrottled."""
    throttle: SignInThrottle = request.app.state.callbacks
    limit = request.app.state.resources.settings.sign_in.failures_per_address
    async with throttle.attempt({f"callback:{source_of(browser_of(request).address)}": limit}):
        yield


#: For routes that finish a sign-in.
throttled_callback = Depends(_callback_attempt, scope="function")


def browser_of(request: Request) -> Browser:
    """What is noted of the browser that asks."""
    address = request.client.host if request.client else ""
    return Browser(request.headers.get("user-agent", ""), address)


def keep_cookie(response: Response, name: str, value: str) -> None:
    """Hand a secret to the browser."""
    response.set_cookie(name, value, secure=True, httponly=True, samesite="lax", path="/")


def login_secret(request: Request) -> str:
    """What ties sign-ins to this browser: one for all its tabs."""
    known = request.cookies.get(LOGIN_COOKIE, "")
    return known if len(known) >= 43 else secrets.token_urlsafe(32)  # noqa: PLR2004 - 256 bits in base64url


async def require_fresh_proof(connection: HTTPConnection, _principal: Principal) -> None:
    """For `app.state.step_up`: whoever acts by a session proved a moment ago who they are.

    Raises StepUpRequired. A token has nobody to ask; it is narrowed by its scopes instead.
    """
    found: SignedInBrowser | None = getattr(connection.state, "signed_in_browser", None)
    if found is None:
        return
    resources: ControlResources = connection.app.state.resources
    if not is_fresh(found.stepped_up_at, resources.settings.sign_in.step_up_life, resources.now()):
        raise StepUpRequired


async def _signed_in_browser(request: Request) -> SignedInBrowser:
    await find_principal(request)
    found: SignedInBrowser | None = getattr(request.state, "signed_in_browser", None)
    if found is None:
        raise Unauthenticated
    return found


CurrentBrowser = Annotated[SignedInBrowser, Depends(_signed_in_browser)]
