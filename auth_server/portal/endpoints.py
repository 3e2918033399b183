"""JSON routes of the administration of accounts and invitations, and of one's own applications."""

from __future__ import annotations

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Query, status

from auth_server.accounts.dependencies import Accounts, Administrator
from auth_server.accounts.models import Account, Invitation
from auth_server.accounts.schemas import (
    AccountRead,
    AccountUpdate,
    InvitationCreate,
    InvitationId,
    InvitationMade,
    InvitationRead,
)
from auth_server.portal.dependencies import OwnApplications
from auth_server.portal.schemas import ApplicationRead
from auth_server.sessions.dependencies import ConfirmedAdministrator, Sessions, SignedInSession
from auth_server.sessions.endpoints import as_read
from auth_server.sessions.schemas import EndReason, SessionRead

router = APIRouter(prefix="/auth/api/v1", tags=["accounts"])


@router.get("/accounts", response_model=list[AccountRead])
async def list_accounts(_administrator: Administrator, accounts: Accounts) -> list[Account]:
    """Every account, by name."""
    return list(await accounts.list())


@router.get("/accounts/{account_id}", response_model=AccountRead)
async def get_account(account_id: UUID, _administrator: Administrator, accounts: Accounts) -> Account:
    """One account."""
    return await accounts.get(account_id)


@router.patch("/accounts/{account_id}", response_model=AccountRead)
async def change_account(
    account_id: UUID,
    wanted: AccountUpdate,
    administrator: ConfirmedAdministrator,
    accounts: Accounts,
) -> Account:
    """Give it another role, shut it out or let it in; needs a fresh passkey."""
    return await accounts.change(administrator, account_id, wanted)


@router.get("/accounts/{account_id}/sessions")
async def list_sessions_of(
    account_id: UUID, _administrator: Administrator, accounts: Accounts, sessions: Sessions
) -> list[SessionRead]:
    """The browsers that are signed in to an account."""
    account = await accounts.get(account_id)
    return as_read(await sessions.list(account.id), None)


@router.delete("/accounts/{account_id}/sessions", status_code=status.HTTP_204_NO_CONTENT)
async def end_sessions_of(
    account_id: UUID, administrator: Administrator, accounts: Accounts, sessions: Sessions
) -> None:
    """Sign somebody out everywhere."""
    account = await accounts.get(account_id)
    await sessions.end_all(account.id, None, EndReason.ENDED_BY_ADMINISTRATOR, administrator)


@router.delete("/accounts/{account_id}/sessions/{session_id}", status_code=status.HTTP_204_NO_CONTENT)
async def end_session_of(
    account_id: UUID, session_id: UUID, administrator: Administrator, sessions: Sessions
) -> None:
    """End one session of somebody."""
    await sessions.end_of(account_id, session_id, EndReason.ENDED_BY_ADMINISTRATOR, administrator)


@router.get("/invitations", response_model=list[InvitationRead])
async def list_invitations(_administrator: Administrator, accounts: Accounts) -> list[Invitation]:
    """Those that can still be accepted, newest first."""
    return list(await accounts.list_invitations())


@router.post("/invitations", status_code=status.HTTP_201_CREATED)
async def create_invitation(
    wanted: InvitationCreate, administrator: ConfirmedAdministrator, accounts: Accounts
) -> InvitationMade:
    """Invite somebody; the link is shown once. Needs a fresh passkey."""
    invitation, secret = accounts.invite(administrator, wanted.role, wanted.note)
    shown = InvitationRead.model_validate(invitation)
    return InvitationMade(**shown.model_dump(), link=accounts.link_of(secret))


@router.delete("/invitations/{invitation_id}", status_code=status.HTTP_204_NO_CONTENT)
async def withdraw_invitation(
    invitation_id: InvitationId, administrator: Administrator, accounts: Accounts
) -> None:
    """Make an invitation worthless."""
    await accounts.withdraw(administrator, invitation_id)


@router.get("/applications")
async def list_applications(
    signed_in: SignedInSession, applications: OwnApplications
) -> list[ApplicationRead]:
    """The applications that the person let in, by name."""
    return await applications.list(signed_in)


@router.delete("/applications", status_code=status.HTTP_204_NO_CONTENT)
async def withdraw_application(
    signed_in: SignedInSession,
    applications: OwnApplications,
    client_id: Annotated[str, Query(max_length=128)],
) -> None:
    """Forget the consent to an application, and end everything that came of it."""
    await applications.withdraw(signed_in, client_id)
