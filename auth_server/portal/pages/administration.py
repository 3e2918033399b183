"""The administration of accounts, roles, invitations and sessions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any
from uuid import UUID

from fastapi import APIRouter, Depends, Form, Request, Response
from fastapi.responses import RedirectResponse

from auth_server.accounts.dependencies import Accounts, Administrator
from auth_server.accounts.models import Account
from auth_server.accounts.schemas import (
    AccountUpdate,
    InvitationCreate,
    InvitationId,
    InvitationMade,
    InvitationRead,
)
from auth_server.accounts.service import AccountService
from auth_server.portal.dependencies import FreshAdministrator
from auth_server.sessions.dependencies import Sessions
from auth_server.sessions.endpoints import as_read
from auth_server.sessions.schemas import EndReason, SessionRead
from shared.kernel.errors import AppError
from shared.web.forms import drawn_again
from shared.web.problems import STATUS_OF_KIND
from shared.web.rendering import render

router = APIRouter(prefix="/auth/accounts", include_in_schema=False)


@dataclass(frozen=True, slots=True)
class _People:
    """Accounts, and the browsers that are signed in to them."""

    accounts: Accounts
    sessions: Sessions

    async def browsers(self, account: Account) -> list[SessionRead]:
        """Those of one account."""
        return as_read(await self.sessions.list(account.id), None)


People = Annotated[_People, Depends(_People)]


@router.get("")
async def show_accounts(request: Request, _administrator: Administrator, accounts: Accounts) -> Response:
    """Everybody, and who is invited."""
    return render(request, "portal/accounts.html", made=None, **await _everybody(accounts))


@router.post("/invitations")
async def invite(
    request: Request,
    administrator: FreshAdministrator,
    accounts: Accounts,
    wanted: Annotated[InvitationCreate, Form()],
) -> Response:
    """Invite somebody, and show the link on this one page."""
    invitation, secret = accounts.invite(administrator, wanted.role, wanted.note)
    shown = InvitationRead.model_validate(invitation)
    made = InvitationMade(**shown.model_dump(), link=accounts.link_of(secret))
    everybody = await _everybody(accounts)
    return render(request, "portal/accounts.html", status_code=201, made=made, **everybody)


@router.post("/invitations/{invitation_id}/withdraw")
async def withdraw(invitation_id: InvitationId, administrator: Administrator, accounts: Accounts) -> Response:
    """Make an invitation worthless."""
    await accounts.withdraw(administrator, invitation_id)
    return RedirectResponse("/auth/accounts", status_code=303)


@router.get("/{account_id}")
async def show_person(
    request: Request, account_id: UUID, _administrator: Administrator, people: People
) -> Response:
    """One account with its browsers."""
    account = await people.accounts.get(account_id)
    browsers = await people.browsers(account)
    return render(request, "portal/person.html", account=account, sessions=browsers, refused="")


@router.post("/{account_id}")
async def change_account(
    request: Request,
    account_id: UUID,
    administrator: FreshAdministrator,
    people: People,
    wanted: Annotated[AccountUpdate, Form()],
) -> Response:
    """Give an account another role, shut it out or let it in."""
    account = await people.accounts.get(account_id)
    browsers = await people.browsers(account)
    with drawn_again(lambda refusal: _refused(request, account, browsers, refusal)):
        await people.accounts.change(administrator, account_id, wanted)
    return RedirectResponse(f"/auth/accounts/{account_id}", status_code=303)


@router.post("/{account_id}/sessions/end")
async def end_sessions(
    account_id: UUID, administrator: Administrator, accounts: Accounts, sessions: Sessions
) -> Response:
    """Sign somebody out everywhere."""
    account = await accounts.get(account_id)
    await sessions.end_all(account.id, None, EndReason.ENDED_BY_ADMINISTRATOR, administrator)
    return RedirectResponse(f"/auth/accounts/{account_id}", status_code=303)


@router.post("/{account_id}/sessions/{session_id}/end")
async def end_session(
    account_id: UUID, session_id: UUID, administrator: Administrator, sessions: Sessions
) -> Response:
    """Sign one browser of somebody out."""
    await sessions.end_of(account_id, session_id, EndReason.ENDED_BY_ADMINISTRATOR, administrator)
    return RedirectResponse(f"/auth/accounts/{account_id}", status_code=303)


async def _everybody(accounts: AccountService) -> dict[str, Any]:
    return {"accounts": await accounts.list(), "invitations": await accounts.list_invitations()}


def _refused(
    request: Request, account: Account, browsers: Sequence[SessionRead], refusal: AppError
) -> Response:
    return render(
        request,
        "portal/person.html",
        status_code=STATUS_OF_KIND[refusal.kind],
        account=account,
        sessions=browsers,
        refused=refusal.code,
    )
