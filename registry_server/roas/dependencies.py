"""Wiring of ROAs."""

from __future__ import annotations

from datetime import UTC, datetime
from email.utils import format_datetime, parsedate_to_datetime
from http import HTTPStatus
from typing import Annotated

from fastapi import Depends, Request, Response

from registry_server.roas.schemas import Export
from registry_server.roas.service.exports import RoaService
from registry_server.roas.service.routers import RouterCache
from registry_server.snapshot.dependencies import Opened


def _roas(request: Request, _opened: Opened) -> RoaService:
    service: RoaService = request.app.state.roas
    return service


def _routers(request: Request) -> RouterCache:
    cache: RouterCache = request.app.state.routers
    return cache


Roas = Annotated[RoaService, Depends(_roas)]
Routers = Annotated[RouterCache, Depends(_routers)]


class ConditionalExport:
    """Sends a file, or 304 to who has it already (RFC 9110, section 13.2.2)."""

    def __init__(self, request: Request) -> None:
        """Note what the client has."""
        self._tags = request.headers.get("if-none-match")
        self._since = _read_date(request.headers.get("if-modified-since"))

    def answer(self, export: Export) -> Response:
        """The file with its validators."""
        headers = {
            "ETag": export.tag,
            "Last-Modified": format_datetime(export.modified_at.astimezone(UTC), usegmt=True),
            "Cache-Control": "no-cache",
        }
        if self._has(export):
            return Response(status_code=HTTPStatus.NOT_MODIFIED, headers=headers)
        return Response(export.body, media_type=export.media_type, headers=headers)

    def _has(self, export: Export) -> bool:
        if self._tags is not None:
            known = {tag.strip().removeprefix("W/") for tag in self._tags.split(",")}
            return export.tag in known or "*" in known
        return self._since is not None and export.modified_at <= self._since


def _read_date(text: str | None) -> datetime | None:
    try:
        found = parsedate_to_datetime(text) if text else None
    except ValueError:
        return None
    return found.replace(tzinfo=UTC) if found and found.tzinfo is None else found


IfNewer = Annotated[ConditionalExport, Depends(ConditionalExport)]
