"""The API description: made once, when somebody first asks for it, and off the event loop."""

from __future__ import annotations

import asyncio
from threading import Lock
from typing import Any

from fastapi import APIRouter, FastAPI, Request
from fastapi.responses import JSONResponse
from starlette.responses import Response

from shared.web.principals import find_principal
from shared.web.routing import Router

#: However many ask at first, it is made once: a second would take as long again from everybody.
_DESCRIBING = Lock()


def api_reference_router(prefix: str, service: str) -> APIRouter:
    """`GET <prefix>/openapi.json` and the reference page `GET <prefix>/docs`, under the strict policy."""
    router = Router(prefix=prefix, include_in_schema=False)

    @router.get("/openapi.json")
    async def read_openapi(request: Request) -> JSONResponse:
        return JSONResponse(await _schema(request))

    @router.get("/docs")
    async def read_reference(request: Request) -> Response:
        schema = await _schema(request)
        pages = request.app.state.pages
        if pages is None:
            return JSONResponse(schema)
        await find_principal(request)
        page: Response = pages.render(
            request, "reference/api.html", service=service, schema=schema, operations=operations_of(schema)
        )
        return page

    return router


async def _schema(request: Request) -> dict[str, Any]:
    app: FastAPI = request.app
    made: dict[str, Any] | None = app.openapi_schema
    return await asyncio.to_thread(_described, app) if made is None else made


def _described(app: FastAPI) -> dict[str, Any]:
    with _DESCRIBING:
        made: dict[str, Any] = app.openapi()
    return made


def operations_of(schema: dict[str, Any]) -> list[dict[str, Any]]:
    """Every operation of the description, flat, in the order of its path."""
    return [
        {
            "method": method.upper(),
            "path": path,
            "group": (operation.get("tags") or ["other"])[0],
            "description": operation.get("description", ""),
            "summary": operation.get("summary", ""),
            "parameters": operation.get("parameters", []),
        }
        for path, methods in sorted(schema.get("paths", {}).items())
        for method, operation in methods.items()
    ]
