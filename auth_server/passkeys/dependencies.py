"""Wiring of passkeys and recovery codes."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Annotated
from urllib.parse import urlsplit

from fastapi import Depends, FastAPI, Request
from sqlalchemy.ext.asyncio import AsyncSession

from auth_server.accounts.dependencies import Accounts, account_service
from auth_server.audit.dependencies import AuditTrail, audit_service
from auth_server.captcha.dependencies import PublicCaptcha, captcha_of
from auth_server.passkeys.repository import PasskeyRepository
from auth_server.passkeys.schemas import RelyingParty
from auth_server.passkeys.service import (
    Assertions,
    Ground,
    Keyring,
    Recovery,
    Registrations,
    SlowHashes,
    Visitor,
    Work,
)
from auth_server.passkeys.store import (
    CeremoniesWithFallback,
    CeremonyStore,
    KvCeremonies,
    SqlCeremonies,
)
from auth_server.resources import AuthResources
from auth_server.sessions.dependencies import (
    SESSION_COOKIE,
    Sessions,
    browser_of,
    session_service,
    sign_in_throttle,
)
from shared.kernel.secrets import digest_of
from shared.web import csrf
from shared.web.transactions import Session


def prepare(app: FastAPI, resources: AuthResources) -> None:
    """Set up what lives as long as the process."""
    app.state.ceremonies = ceremony_store(resources)
    app.state.throttle = sign_in_throttle(resources)
    app.state.slow_hashes = SlowHashes()


def ceremony_store(resources: AuthResources) -> CeremonyStore:
    """Where challenges wait for their answer."""
    sql = SqlCeremonies(resources.database, resources.now)
    if not resources.kv.configured:
        return sql
    return CeremoniesWithFallback(KvCeremonies(resources.kv, resources.now), sql)


def relying_party(resources: AuthResources) -> RelyingParty:
    """Who we are to an authenticator, by the settings alone."""
    origin = resources.settings.web.public_url
    return RelyingParty(id=urlsplit(origin).hostname or "", origin=origin, name=resources.settings.fleet_name)


def _ground(request: Request) -> Ground:
    state = request.app.state
    resources: AuthResources = state.resources
    ceremonies: CeremonyStore = state.ceremonies

    @asynccontextmanager
    async def within(begun: AbstractAsyncContextManager[AsyncSession]) -> AsyncIterator[Work]:
        async with begun as session:
            yield _work(request, session)

    return Ground(
        ceremonies=ceremonies,
        party=relying_party(resources),
        throttle=state.throttle,
        captcha=captcha_of(resources, state.throttle),
        settings=resources.settings.sign_in,
        now=resources.now,
        open=lambda: within(resources.database.transaction()),
        look=lambda: within(resources.database.reading()),
    )


def _work(request: Request, session: AsyncSession) -> Work:
    state = request.app.state
    resources: AuthResources = state.resources
    audit = audit_service(session, resources.now, browser_of(request).address)
    return Work(
        accounts=account_service(resources, session, audit, state.after_account_change),
        sessions=session_service(resources, session, audit, state.last_uses, state.after_session_end),
        passkeys=PasskeyRepository(session),
        audit=audit,
    )


_Ground = Annotated[Ground, Depends(_ground)]


def _assertions(ground: _Ground) -> Assertions:
    return Assertions(ground)


def _registrations(ground: _Ground) -> Registrations:
    return Registrations(ground)


def _recovery(request: Request, ground: _Ground) -> Recovery:
    return Recovery(ground, request.app.state.slow_hashes)


def _keyring(
    request: Request, session: Session, accounts: Accounts, sessions: Sessions, audit: AuditTrail
) -> Keyring:
    work = Work(accounts, sessions, PasskeyRepository(session), audit)
    return Keyring(work, request.app.state.resources.now)


def visitor(request: Request) -> Visitor:
    """The browser that asks. Ceremonies are bound to the cookie of the form token, which each browser has."""
    return Visitor(
        browser=browser_of(request),
        key=digest_of(request.cookies.get(csrf.COOKIE, "")),
        cookie=request.cookies.get(SESSION_COOKIE),
    )


async def _captcha_due(captcha: PublicCaptcha, visitor: Annotated[Visitor, Depends(visitor)]) -> bool:
    return await captcha.is_due(visitor.place)


SignsIn = Annotated[Assertions, Depends(_assertions)]
Registers = Annotated[Registrations, Depends(_registrations)]
Recovers = Annotated[Recovery, Depends(_recovery)]
OwnKeyring = Annotated[Keyring, Depends(_keyring)]
VisitingBrowser = Annotated[Visitor, Depends(visitor)]
#: Whether a passkey from this address needs a captcha as well.
CaptchaDue = Annotated[bool, Depends(_captcha_due)]
