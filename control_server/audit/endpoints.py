"""JSON routes of the audit trail."""

from __future__ import annotations

from typing import Annotated

from fastapi import Query
from fastapi.responses import StreamingResponse

from control_server.audit.dependencies import AuditReader, AuditTrail, Exports
from shared.web.audit.schemas import AuditFilter, AuditPage, ExportForm
from shared.web.routing import Router

_MEDIA_TYPES = {ExportForm.CSV: "text/csv; charset=utf-8", ExportForm.JSONL: "application/jsonl"}

router = Router(prefix="/api/v1/audit", tags=["audit"])


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


@router.get("/export", response_class=StreamingResponse)
async def export_audit_events(
    _reader: AuditReader,
    exports: Exports,
    wanted: Annotated[AuditFilter, Query()],
    form: Annotated[ExportForm, Query(alias="format")] = ExportForm.JSONL,
) -> StreamingResponse:
    """Every event that matches, newest first, as a file."""
    name = f'attachment; filename="audit.{form}"'
    return StreamingResponse(
        exports.stream_lines(wanted, form),
        media_type=_MEDIA_TYPES[form],
        headers={"Content-Disposition": name, "Cache-Control": "no-store"},
    )
