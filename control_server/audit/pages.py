"""Portal routes of the audit trail."""

from __future__ import annotations

from typing import Annotated, Any
from urllib.parse import urlencode

from fastapi import Query, Request, Response

from control_server.audit.dependencies import AuditReader, AuditTrail
from shared.kernel.errors import InvalidInput
from shared.web.audit.rules import changes
from shared.web.audit.schemas import AuditFilter
from shared.web.forms import field_messages, parse
from shared.web.rendering import render
from shared.web.routing import Router

router = Router(include_in_schema=False)

_SHOWN = 50
_FIELDS = ("actor", "action", "object_type", "object_id", "since", "until")


@router.get("/audit")
async def show_audit_trail(
    request: Request,
    _reader: AuditReader,
    audit: AuditTrail,
    cursor: Annotated[str | None, Query(max_length=256)] = None,
) -> Response:
    """Who did what, from where, and what it changed; the filter stands in the address."""
    typed = {name: request.query_params.get(name, "").strip() for name in _FIELDS}
    wanted, errors = _read(typed)
    page = await audit.list(wanted, cursor, _SHOWN)
    query = urlencode({name: value for name, value in typed.items() if value})
    return render(
        request,
        "audit/audit.html",
        events=page.items,
        next=page.next,
        cursor=cursor,
        typed=typed,
        errors=errors,
        query=query,
        changes=changes,
    )


def _read(typed: dict[str, str]) -> tuple[AuditFilter, dict[str, Any]]:
    """The filter, or an open one with what was wrong with it."""
    try:
        return parse(AuditFilter, typed), {}
    except InvalidInput as refusal:
        return AuditFilter(), field_messages(refusal)
