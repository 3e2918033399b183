"""Where a person confirms the code of a device. Looking at it allows nothing (RFC 8628, section 3.3.1)."""

from __future__ import annotations

import math
from http import HTTPStatus
from typing import Annotated

from fastapi import APIRouter, Form, Query, Request
from fastapi.responses import RedirectResponse, Response

from auth_server.device.dependencies import PAGE, Devices
from auth_server.device.errors import NothingToGive, UserCodeUnknown
from auth_server.sessions.dependencies import SignedInSession
from auth_server.tokens.dependencies import address_of
from shared.cache.throttling import SignInThrottled
from shared.kernel.errors import AppError
from shared.web.forms import FormRefused
from shared.web.problems import STATUS_OF_KIND
from shared.web.rendering import render

router = APIRouter(include_in_schema=False)

_MENDABLE = (UserCodeUnknown, NothingToGive, SignInThrottled)
UserCode = Annotated[str, Query(max_length=64)]


@router.get(PAGE)
async def show_device(
    request: Request, person: SignedInSession, devices: Devices, user_code: UserCode = ""
) -> Response:
    """The field for the code; with a code, whose device it is and what it would get."""
    if not user_code.strip():
        return _field(request, "", None)
    try:
        question = await devices.ask(person, user_code, address_of(request))
    except _MENDABLE as refusal:
        return _field(request, user_code, refusal)
    return render(request, "device/confirm.html", question=question)


@router.post(f"{PAGE}/decision")
async def decide(
    request: Request,
    person: SignedInSession,
    devices: Devices,
    user_code: Annotated[str, Form(max_length=64)],
    decision: Annotated[str, Form(pattern="^(allow|deny)$")],
) -> Response:
    """The person's answer."""
    agreed = decision == "allow"
    try:
        await devices.decide(person, user_code, address_of(request), agreed=agreed)
    except _MENDABLE as refusal:
        raise FormRefused(refusal, lambda cause: _field(request, user_code, cause)) from refusal
    done = "allowed" if agreed else "refused"
    return RedirectResponse(f"{PAGE}/done?answer={done}", status_code=HTTPStatus.SEE_OTHER)


@router.get(f"{PAGE}/done")
async def show_done(
    request: Request, _person: SignedInSession, answer: Annotated[str, Query(max_length=16)] = ""
) -> Response:
    """What was answered, where a reload repeats nothing."""
    return render(request, "device/done.html", allowed=answer == "allowed")


def _field(request: Request, typed: str, refusal: AppError | None) -> Response:
    page = render(
        request,
        "device/code.html",
        status_code=STATUS_OF_KIND[refusal.kind] if refusal else HTTPStatus.OK,
        typed=typed,
        refused=refusal.code if refusal else "",
    )
    if refusal is not None and refusal.retry_after is not None:
        page.headers["Retry-After"] = str(math.ceil(refusal.retry_after.total_seconds()))
    return page
