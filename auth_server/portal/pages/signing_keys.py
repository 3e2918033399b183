"""The administration of the keys that sign tokens."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Form, Request, Response
from fastapi.responses import RedirectResponse

from auth_server.accounts.dependencies import Administrator
from auth_server.portal.dependencies import FreshAdministrator
from auth_server.signing_keys.dependencies import AdministeredKeys
from auth_server.signing_keys.errors import NextKeyTooYoung
from shared.web.rendering import render

router = APIRouter(prefix="/auth/signing-keys", include_in_schema=False)

_PAGE = "/auth/signing-keys"


@router.get("")
async def show_keys(request: Request, _administrator: Administrator, keys: AdministeredKeys) -> Response:
    """Every key and its stage."""
    return render(request, "portal/signing_keys.html", keys=await keys.list(), too_young=False)


@router.post("/rotate")
async def rotate(
    request: Request,
    administrator: FreshAdministrator,
    keys: AdministeredKeys,
    insist: Annotated[bool, Form()] = False,  # noqa: FBT002 - a field of the form
) -> Response:
    """Let the next keys sign; asks once more where not everybody can have read them yet."""
    try:
        await keys.rotate(administrator, insist=insist)
    except NextKeyTooYoung:
        listed = await keys.list()
        return render(request, "portal/signing_keys.html", status_code=409, keys=listed, too_young=True)
    return RedirectResponse(_PAGE, status_code=303)


@router.post("/{kid}/retire")
async def retire(kid: str, administrator: FreshAdministrator, keys: AdministeredKeys) -> Response:
    """Forget a key that others may know; what it signed is worthless at once."""
    await keys.retire(administrator, kid)
    return RedirectResponse(_PAGE, status_code=303)
