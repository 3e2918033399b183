"""A person's own page: passkeys, recovery codes, browsers, proofs and applications."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Depends, Form, Request, Response
from fastapi.responses import RedirectResponse

from auth_server.ownership.dependencies import OwnProofs
from auth_server.passkeys.dependencies import OwnKeyring, Recovers
from auth_server.passkeys.models import Passkey
from auth_server.passkeys.schemas import PasskeyRename
from auth_server.portal.dependencies import OwnApplications
from auth_server.sessions.dependencies import FreshForForm, Sessions, SignedInSession, drop_cookie
from auth_server.sessions.endpoints import as_read
from auth_server.sessions.rules import FIRST_PAGE, SIGN_IN_PAGE
from auth_server.sessions.schemas import EndReason
from shared.kernel.errors import AppError
from shared.web.forms import drawn_again, field_messages, parse
from shared.web.problems import STATUS_OF_KIND
from shared.web.rendering import render

router = APIRouter(prefix="/auth", include_in_schema=False)


@dataclass(frozen=True, slots=True)
class _Own:
    """What the account's page joins."""

    keyring: OwnKeyring
    sessions: Sessions
    proofs: OwnProofs
    applications: OwnApplications


Own = Annotated[_Own, Depends(_Own)]


@router.get("/")
async def show_start() -> Response:
    """The service's own front page is the person's account."""
    return RedirectResponse(FIRST_PAGE, status_code=303)


@router.get("/account")
async def show_account(request: Request, signed_in: SignedInSession, own: Own) -> Response:
    """Everything of one's own."""
    return render(
        request,
        "portal/account.html",
        who=signed_in,
        passkeys=await own.keyring.list(signed_in),
        codes_left=await own.keyring.count_codes(signed_in),
        sessions=as_read(await own.sessions.list(signed_in.account_id), signed_in.session_id),
        proofs=await own.proofs.list(signed_in.account_id),
        applications=await own.applications.list(signed_in),
        alarms=await own.applications.list_alarms(signed_in),
    )


@router.post("/account/recovery-codes")
async def make_codes(request: Request, signed_in: FreshForForm, recovers: Recovers) -> Response:
    """Fresh recovery codes on this one page."""
    codes = await recovers.make_codes(signed_in)
    return render(request, "portal/recovery_codes.html", status_code=201, codes=codes)


@router.get("/account/passkeys/{passkey_id}")
async def show_passkey(
    request: Request, passkey_id: UUID, signed_in: SignedInSession, keyring: OwnKeyring
) -> Response:
    """One passkey."""
    passkey = await keyring.get(signed_in, passkey_id)
    return _passkey(request, passkey, passkey.name, None)


@router.post("/account/passkeys/{passkey_id}/rename")
async def rename_passkey(
    request: Request,
    passkey_id: UUID,
    signed_in: SignedInSession,
    keyring: OwnKeyring,
    name: Annotated[str, Form()] = "",
) -> Response:
    """Give a passkey another name."""
    passkey = await keyring.get(signed_in, passkey_id)
    with drawn_again(lambda refusal: _passkey(request, passkey, name, refusal)):
        await keyring.rename(signed_in, passkey_id, parse(PasskeyRename, {"name": name}).name)
    return RedirectResponse(FIRST_PAGE, status_code=303)


@router.post("/account/passkeys/{passkey_id}/remove")
async def remove_passkey(
    request: Request, passkey_id: UUID, signed_in: FreshForForm, keyring: OwnKeyring
) -> Response:
    """Remove a passkey at once."""
    passkey = await keyring.get(signed_in, passkey_id)
    with drawn_again(lambda refusal: _passkey(request, passkey, passkey.name, refusal)):
        await keyring.remove(signed_in, passkey_id)
    return RedirectResponse(FIRST_PAGE, status_code=303)


@router.post("/account/sessions/{session_id}/end")
async def end_session(session_id: UUID, signed_in: SignedInSession, sessions: Sessions) -> Response:
    """Sign one browser out."""
    owner = signed_in.account_id
    await sessions.end_of(owner, session_id, EndReason.ENDED_BY_OWNER, signed_in.principal)
    return RedirectResponse(FIRST_PAGE, status_code=303)


@router.post("/account/sign-out-everywhere")
async def sign_out_everywhere(signed_in: SignedInSession, sessions: Sessions) -> Response:
    """Sign every browser out, this one too."""
    await sessions.end_all(signed_in.account_id, by=signed_in.principal)
    response = RedirectResponse(SIGN_IN_PAGE, status_code=303)
    drop_cookie(response)
    return response


@router.post("/account/applications/withdraw")
async def withdraw_application(
    signed_in: SignedInSession, applications: OwnApplications, client_id: Annotated[str, Form(max_length=128)]
) -> Response:
    """Shut an application out of one's account."""
    await applications.withdraw(signed_in, client_id)
    return RedirectResponse(FIRST_PAGE, status_code=303)


def _passkey(request: Request, passkey: Passkey, typed: str, refusal: AppError | None) -> Response:
    return render(
        request,
        "portal/passkey.html",
        status_code=STATUS_OF_KIND[refusal.kind] if refusal else 200,
        passkey=passkey,
        typed=typed,
        errors=field_messages(refusal),
        refused=refusal.code if refusal else "",
    )
