"""What every service with pages answers: its static files, and the form that keeps theme and language."""

from __future__ import annotations

from http import HTTPStatus
from typing import TYPE_CHECKING

from fastapi import APIRouter, Request
from starlette.responses import RedirectResponse, Response

from shared.kernel.errors import InvalidInput
from shared.web.preferences import THEME_COOKIE, Theme
from shared.web.routing import Router
from shared.web.translation import LANGUAGE_COOKIE

if TYPE_CHECKING:
    from shared.web.pages import Pages

_A_YEAR = 31536000


def pages_router(pages: Pages) -> APIRouter:
    """What every page needs: the static files, and the form that keeps theme and language."""
    router = Router(prefix=pages.options.prefix, include_in_schema=False)
    router.add_api_route(
        "/static/{version}/{path:path}", pages.static.answer, methods=["GET", "HEAD"], name="static_file"
    )

    @router.post("/preferences", name="save_preferences")
    async def save(request: Request) -> Response:
        form = await request.form()
        response = _answer(request, str(form.get("return_to", "")), pages.options.prefix)
        _keep(response, pages, "theme", str(form.get("theme", "")))
        _keep(response, pages, "language", str(form.get("language", "")))
        return response

    return router


def _keep(response: Response, pages: Pages, name: str, value: str) -> None:
    if not value:
        return
    known = set(Theme) if name == "theme" else set(pages.languages)
    if value not in known:
        raise InvalidInput(f"There is no {name} of this name.")
    cookie = THEME_COOKIE if name == "theme" else LANGUAGE_COOKIE
    response.set_cookie(cookie, value, max_age=_A_YEAR, path="/", samesite="lax", secure=True, httponly=True)


def _answer(request: Request, return_to: str, prefix: str) -> Response:
    if "text/html" not in request.headers.get("accept", ""):
        return Response(status_code=HTTPStatus.NO_CONTENT)
    local = return_to.startswith("/") and not return_to.startswith(("//", "/\\"))
    return RedirectResponse(return_to if local else f"{prefix}/", status_code=HTTPStatus.SEE_OTHER)
