"""JSON routes of ceremonies, passkeys and recovery codes."""

from __future__ import annotations

from uuid import UUID

from fastapi import APIRouter, Depends, Response, status

from auth_server.passkeys.dependencies import OwnKeyring, Recovers, Registers, SignsIn, VisitingBrowser
from auth_server.passkeys.models import Passkey
from auth_server.passkeys.schemas import (
    CeremonyOptions,
    InvitedBegin,
    InvitedFinish,
    PasskeyRead,
    PasskeyRename,
    RecoveryAttempt,
    RecoveryCodesLeft,
    RecoveryCodesMade,
    RegistrationFinish,
    SignInBegin,
    SignInDone,
    SignInFinish,
)
from auth_server.sessions.dependencies import SignedInSession, keep_cookie
from auth_server.sessions.rules import FIRST_PAGE, safe_next
from shared.web import csrf

#: Signing in matters also without a cookie of ours, so every route here wants the form token.
router = APIRouter(prefix="/auth/api/v1", tags=["passkeys"], dependencies=[Depends(csrf.require_token)])


@router.post("/sign-in/options")
async def begin_sign_in(wanted: SignInBegin, signs_in: SignsIn, visitor: VisitingBrowser) -> CeremonyOptions:
    """Options for `navigator.credentials.get`; the same for every name."""
    return await signs_in.begin_sign_in(wanted.name, visitor)


@router.post("/sign-in")
async def finish_sign_in(
    answer: SignInFinish, signs_in: SignsIn, visitor: VisitingBrowser, response: Response
) -> SignInDone:
    """Sign in with a passkey."""
    keep_cookie(response, await signs_in.finish_sign_in(answer, visitor))
    return SignInDone(next=safe_next(answer.next, FIRST_PAGE))


@router.post("/step-up/options")
async def begin_step_up(
    signed_in: SignedInSession, signs_in: SignsIn, visitor: VisitingBrowser
) -> CeremonyOptions:
    """Options to confirm with one of the person's own passkeys."""
    return await signs_in.begin_step_up(signed_in, visitor)


@router.post("/step-up")
async def finish_step_up(
    answer: SignInFinish,
    signed_in: SignedInSession,
    signs_in: SignsIn,
    visitor: VisitingBrowser,
    response: Response,
) -> SignInDone:
    """Confirm; sensitive acts are allowed for five minutes."""
    keep_cookie(response, await signs_in.finish_step_up(answer, signed_in, visitor))
    return SignInDone(next=safe_next(answer.next, FIRST_PAGE))


@router.post("/invitations/accept/options")
async def begin_invited(
    wanted: InvitedBegin, registers: Registers, visitor: VisitingBrowser
) -> CeremonyOptions:
    """Options for `navigator.credentials.create` of a new account."""
    return await registers.begin_invited(wanted, visitor)


@router.post("/invitations/accept", status_code=status.HTTP_201_CREATED)
async def finish_invited(
    answer: InvitedFinish, registers: Registers, visitor: VisitingBrowser, response: Response
) -> SignInDone:
    """Make the account with its first passkey, and sign in."""
    keep_cookie(response, await registers.finish_invited(answer, visitor))
    return SignInDone(next=FIRST_PAGE)


@router.get("/passkeys", response_model=list[PasskeyRead])
async def list_passkeys(signed_in: SignedInSession, keyring: OwnKeyring) -> list[Passkey]:
    """The person's passkeys."""
    return list(await keyring.list(signed_in))


@router.post("/passkeys/options")
async def begin_added(
    signed_in: SignedInSession, registers: Registers, visitor: VisitingBrowser
) -> CeremonyOptions:
    """Options for one more passkey; needs a fresh one."""
    return await registers.begin_added(signed_in, visitor)


@router.post("/passkeys", status_code=status.HTTP_201_CREATED, response_model=PasskeyRead)
async def finish_added(
    answer: RegistrationFinish, signed_in: SignedInSession, registers: Registers, visitor: VisitingBrowser
) -> Passkey:
    """Add a passkey."""
    return await registers.finish_added(answer, signed_in, visitor)


@router.patch("/passkeys/{passkey_id}", response_model=PasskeyRead)
async def rename_passkey(
    passkey_id: UUID, wanted: PasskeyRename, signed_in: SignedInSession, keyring: OwnKeyring
) -> Passkey:
    """Give a passkey another name."""
    return await keyring.rename(signed_in, passkey_id, wanted.name)


@router.delete("/passkeys/{passkey_id}", status_code=status.HTTP_204_NO_CONTENT)
async def remove_passkey(passkey_id: UUID, signed_in: SignedInSession, keyring: OwnKeyring) -> None:
    """Remove a passkey at once; needs a fresh one, and another one to stay."""
    await keyring.remove(signed_in, passkey_id)


@router.post("/recovery")
async def sign_in_by_recovery_code(
    attempt: RecoveryAttempt, recovers: Recovers, visitor: VisitingBrowser, response: Response
) -> SignInDone:
    """Sign in with a recovery code."""
    keep_cookie(response, await recovers.sign_in(attempt, visitor))
    return SignInDone(next=safe_next(attempt.next, FIRST_PAGE))


@router.get("/recovery-codes")
async def count_recovery_codes(signed_in: SignedInSession, keyring: OwnKeyring) -> RecoveryCodesLeft:
    """How many codes are good."""
    return RecoveryCodesLeft(left=await keyring.count_codes(signed_in))


@router.post("/recovery-codes", status_code=status.HTTP_201_CREATED)
async def make_recovery_codes(signed_in: SignedInSession, recovers: Recovers) -> RecoveryCodesMade:
    """Fresh codes, shown once; needs a fresh passkey."""
    return RecoveryCodesMade(codes=await recovers.make_codes(signed_in))
