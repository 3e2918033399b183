"""Wiring of accounts."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import Annotated

from fastapi import Depends, Request
from sqlalchemy.ext.asyncio import AsyncSession

from auth_server.accounts.repository import AccountRepository
from auth_server.accounts.schemas import AccountChanged
from auth_server.accounts.service import AccountService
from auth_server.audit.dependencies import AuditTrail
from auth_server.audit.service import Audit
from auth_server.resources import AuthResources
from shared.kernel.principal import Principal, Scope
from shared.web.principals import Require
from shared.web.transactions import Session

#: Acts inside the transaction of the change; registered in `app.py`.
AfterAccountChange = Callable[[AsyncSession, AccountChanged], Awaitable[None]]


def account_service(
    resources: AuthResources,
    session: AsyncSession,
    audit: Audit,
    listeners: Sequence[AfterAccountChange] = (),
) -> AccountService:
    """Accounts inside a session that is not the request's own."""
    return AccountService(
        AccountRepository(session),
        audit,
        resources.now,
        resources.settings.web.public_url,
        resources.settings.sign_in.invitation_life,
        [partial(listener, session) for listener in listeners],
    )


def _accounts(request: Request, session: Session, audit: AuditTrail) -> AccountService:
    state = request.app.state
    return account_service(state.resources, session, audit, state.after_account_change)


Accounts = Annotated[AccountService, Depends(_accounts)]
Administrator = Annotated[Principal, Depends(Require(Scope.ACCESS_ADMIN))]
