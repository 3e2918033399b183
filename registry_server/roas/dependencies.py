"""Wiring of ROAs."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from email.utils import format_datetime, parsedate_to_datetime
from http import HTTPStatus
from typing import Annotated

from fastapi import Depends, Request, Response

from registry_server.roas.schemas import Export
from registry_server.roas.service.exports import RoaService
from registry_server.roas.service.routers import RouterCache
from registry_server.snapshot.dependencies import Opened

#: A weight of nothing (RFC 9110, section 12.4.2).
_NOT_AT_ALL = re.compile(r"q=0(?:\.0*)?", re.IGNORECASE)


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
        self._packed = _reads_gzip(request.headers.get("accept-encoding", ""))

    def answer(self, export: Export) -> Response:
        """The file with its validators, packed for who reads that."""
        tag = export.packed_tag if self._packed else export.tag
        headers = {
            "ETag": tag,
            "Last-Modified": format_datetime(export.modified_at.astimezone(UTC), usegmt=True),
            "Cache-Control": "no-cache",
            "Vary": "Accept-Encoding",
        }
        known = self._known(export, tag)
        if known is not None:
            return Response(status_code=HTTPStatus.NOT_MODIFIED, headers={**headers, "ETag": known})
        if not self._packed:
            return Response(export.body, media_type=export.media_type, headers=headers)
        headers["Content-Encoding"] = "gzip"
        return Response(export.packed, media_type=export.media_type, headers=headers)

    def _known(self, export: Export, tag: str) -> str | None:
        """The tag of what the client has, where that is still right."""
        if self._tags is not None:
            given = {each.strip().removeprefix("W/") for each in self._tags.split(",")}
            return next((each for each in (tag, export.tag, export.packed_tag) if {each, "*"} & given), None)
        return tag if self._since is not None and export.modified_at <= self._since else None


def _reads_gzip(accepted: str) -> bool:
    """Whether the client takes gzip: it names it, and not with a weight of nothing."""
    for part in accepted.split(","):
        name, _, weight = part.partition(";")
        if name.strip().lower() == "gzip":
            return _NOT_AT_ALL.fullmatch("".join(weight.split())) is None
    return False


def _read_date(text: str | None) -> datetime | None:
    try:
        found = parsedate_to_datetime(text) if text else None
    except ValueError:
        return None
    return found.replace(tzinfo=UTC) if found and found.tzinfo is None else found


IfNewer = Annotated[ConditionalExport, Depends(ConditionalExport)]
