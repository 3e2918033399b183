"""JSON routes of the audit trail."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query

from auth_server.audit.dependencies import AuditReader, AuditTrail
from shared.web.audit.schemas import AuditFilter, AuditPage

router = APIRouter(prefix="/auth/api/v1/audit", tags=["audit"])


@router.get("")
async def list_audit_events(
    _reader: AuditReader,
    audit: AuditTrail,
    wanted: Annotated[AuditFilter, Query()],
    cursor: Annotated[str | None, Query(max_length=256)] = None,
    limit: Annotated[int, Query(ge=1, le=500)] = 100,
) -> AuditPage:
    """Who did what, from where, newest first."""
    return await audit.list(wanted, cursor, limit)
