"""Portal routes of signing in, accepting an invitation, recovering and confirming."""

from __future__ import annotations

import math
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Form, Query, Request, Response
from fastapi.responses import RedirectResponse

from auth_server.accounts.dependencies import Accounts
from auth_server.captcha.dependencies import render_with_captcha
from auth_server.captcha.errors import CaptchaAway, CaptchaNeeded, CaptchaRefused
from auth_server.passkeys.dependencies import CaptchaDue, Recovers, VisitingBrowser
from auth_server.passkeys.errors import HashingBusy, RecoveryRefused
from auth_server.passkeys.schemas import RecoveryAttempt
from auth_server.sessions.dependencies import MaybeSignedIn, SignedInSession, keep_cookie
from auth_server.sessions.rules import FIRST_PAGE, LONGEST_NEXT, safe_next
from shared.cache.throttling import SignInThrottled
from shared.kernel.errors import AppError
from shared.web import csrf
from shared.web.problems import STATUS_OF_KIND
from shared.web.rendering import render

router = APIRouter(prefix="/auth", include_in_schema=False)

_SHOWN_AGAIN = (
    *(RecoveryRefused, SignInThrottled, HashingBusy),
    *(CaptchaNeeded, CaptchaRefused, CaptchaAway),
)
NextPage = Annotated[str, Query(alias="next", max_length=LONGEST_NEXT)]


@router.get("/sign-in")
async def show_sign_in(
    request: Request,
    signed_in: MaybeSignedIn,
    captcha_due: CaptchaDue,
    next_page: NextPage = "",
    again: Annotated[bool, Query(description="Also for who is signed in")] = False,  # noqa: FBT002
) -> Response:
    """The way in; whoever is in already goes on, unless a fresh proof is wanted."""
    if signed_in is not None and not again:
        return RedirectResponse(safe_next(next_page, FIRST_PAGE), status_code=303)
    shown: dict[str, Any] = {"next": safe_next(next_page, "")}
    return render_with_captcha(request, "passkeys/sign_in.html", due=captcha_due, **shown)


@router.get("/step-up")
async def show_step_up(request: Request, _signed_in: SignedInSession, next_page: NextPage = "") -> Response:
    """Confirm with a passkey before a sensitive act."""
    return render(request, "passkeys/step_up.html", next=safe_next(next_page, FIRST_PAGE))


@router.get("/invitations/{secret}")
async def show_invitation(request: Request, secret: str, accounts: Accounts) -> Response:
    """What an invitation is for; looking does not spend it."""
    invitation = await accounts.get_invitation(secret)
    return render(request, "passkeys/invitation.html", invitation=invitation, secret=secret)


@router.get("/recovery")
async def show_recovery(request: Request, next_page: NextPage = "") -> Response:
    """The way in by a recovery code."""
    shown: dict[str, Any] = {"next": safe_next(next_page, ""), "name": "", "refused": ""}
    return render_with_captcha(request, "passkeys/recovery.html", due=True, **shown)


@router.post("/recovery", dependencies=[Depends(csrf.require_token)])
async def recover(
    request: Request,
    recovers: Recovers,
    visitor: VisitingBrowser,
    typed: Annotated[RecoveryAttempt, Form()],
) -> Response:
    """Sign in by a recovery code; the form again where it is refused."""
    try:
        cookie = await recovers.sign_in(typed, visitor)
    except _SHOWN_AGAIN as refusal:
        return _recovery_again(request, typed, refusal)
    response = RedirectResponse(safe_next(typed.next, FIRST_PAGE), status_code=303)
    keep_cookie(response, cookie)
    return response


def _recovery_again(request: Request, typed: RecoveryAttempt, refusal: AppError) -> Response:
    page = render_with_captcha(
        request,
        "passkeys/recovery.html",
        due=True,
        status_code=STATUS_OF_KIND[refusal.kind],
        next=safe_next(typed.next, ""),
        name=typed.name,
        refused=refusal.code,
    )
    if refusal.retry_after is not None:
        page.headers["Retry-After"] = str(math.ceil(refusal.retry_after.total_seconds()))
    return page
