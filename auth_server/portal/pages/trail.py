"""The audit trail of sign-in: who did what, from where."""

from __future__ import annotations

from typing import Annotated, Any
from urllib.parse import urlencode

from fastapi import APIRouter, Query, Request, Response

from auth_server.audit.dependencies import AuditReader, AuditTrail
from shared.kernel.errors import InvalidInput
from shared.web.audit.schemas import AuditFilter
from shared.web.forms import field_messages, parse
from shared.web.rendering import render

router = APIRouter(prefix="/auth/audit", include_in_schema=False)

_ON_A_PAGE = 50
_FIELDS = ("actor", "action", "object_type", "object_id")


@router.get("")
async def show_trail(
    request: Request,
    _reader: AuditReader,
    audit: AuditTrail,
    cursor: Annotated[str, Query(max_length=256)] = "",
) -> Response:
    """One page, newest first."""
    typed = {name: request.query_params.get(name, "").strip() for name in _FIELDS}
    shown: dict[str, Any] = {"typed": typed, "cursor": cursor}
    shown["query"] = urlencode({name: value for name, value in typed.items() if value})
    try:
        page = await audit.list(parse(AuditFilter, typed), cursor or None, _ON_A_PAGE)
    except InvalidInput as refusal:
        shown |= {"events": [], "next": None, "errors": field_messages(refusal)}
        return render(request, "portal/trail.html", status_code=422, **shown)
    return render(request, "portal/trail.html", events=page.items, next=page.next, errors={}, **shown)
