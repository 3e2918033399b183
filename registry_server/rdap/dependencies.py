"""Wiring of RDAP, and its own way to refuse."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Coroutine
from typing import Annotated, Any

from fastapi import Depends, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from fastapi.routing import APIRoute

from registry_server.history.dependencies import History
from registry_server.lookup.dependencies import Catalogue, Findings
from registry_server.rdap.errors import RdapUnsupported
from registry_server.rdap.rules.documents import refusal
from registry_server.rdap.schemas import MEDIA_TYPE
from registry_server.rdap.service import RdapService
from shared.kernel.errors import AppError, Kind

_STATUS = {Kind.MISSING: 404, Kind.INVALID: 400, Kind.UNAVAILABLE: 503}
_UNSUPPORTED = 501
_TITLES = {404: "Not Found", 400: "Bad Request", _UNSUPPORTED: "Not Implemented", 503: "Service Unavailable"}


#: Clients on any site may read what is public anyway (RFC 7480, section 5.6).
_ANYWHERE = {"Access-Control-Allow-Origin": "*"}


class RdapResponse(JSONResponse):
    """A document that clients on any site may read."""

    media_type = MEDIA_TYPE

    def __init__(self, content: Any, status_code: int = 200, **options: Any) -> None:
        """Answer the document."""
        super().__init__(content, status_code, **options)
        self.headers.update(_ANYWHERE)


class RdapRoute(APIRoute):
    """Answers refusals as RDAP documents instead of problems."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """The handler with refusals translated."""
        answer = super().get_route_handler()

        async def handle(request: Request) -> Response:
            try:
                return _unless_known(request, await answer(request))
            except RequestValidationError as refused:
                return _refuse(400, _told(refused))
            except AppError as refused:
                unsupported = isinstance(refused, RdapUnsupported)
                status = _UNSUPPORTED if unsupported else _STATUS.get(refused.kind)
                if status is None:
                    raise
                return _refuse(status, refused.detail)

        return handle


def _unless_known(request: Request, found: Response) -> Response:
    """The answer with a validator, or 304 to who has it already (RFC 9110, section 13.1.2)."""
    tag = f'"{hashlib.sha256(found.body).hexdigest()[:32]}"'
    headers = {"ETag": tag, "Cache-Control": "no-cache", **_ANYWHERE}
    known = {each.strip().removeprefix("W/") for each in request.headers.get("if-none-match", "").split(",")}
    if tag in known or "*" in known:
        return Response(status_code=304, headers=headers)
    found.headers.update(headers)
    return found


def _told(refused: RequestValidationError) -> str:
    """Which part of the question is not acceptable, and why."""
    return "; ".join(f"{item['loc'][-1]}: {item['msg']}" for item in refused.errors())


def _refuse(status: int, detail: str) -> RdapResponse:
    return RdapResponse(refusal(status, _TITLES[status], detail), status)


def _rdap(request: Request, catalogue: Catalogue, findings: Findings, history: History) -> RdapService:
    resources = request.app.state.resources
    base = f"{str(resources.settings.web.public_url).rstrip('/')}/registry/rdap"
    name = resources.settings.fleet_name
    port43 = resources.settings.whois.public_host or None
    return RdapService(catalogue, findings, history, base, name, resources.now, port43)


Rdap = Annotated[RdapService, Depends(_rdap)]
