"""The gallery as an application: `python -m tests.unit.shared.web.pages.gallery` serves it to look at."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from math import sin
from typing import TYPE_CHECKING, Any

from fastapi import FastAPI, Request
from starlette.responses import HTMLResponse, Response

from shared.kernel.principal import Principal, PrincipalKind, Role
from shared.web.middleware import SecurityHeaders
from shared.web.navigation import CONTROL_NAVIGATION
from shared.web.page_routes import pages_router
from shared.web.pages import PageOptions, Pages, build_pages
from tests.unit.shared.web.pages.gallery.streams import StreamScripts

if TYPE_CHECKING:
    from shared.kernel.clock import Clock

NOON = datetime(2026, 5, 12, 12, 42, 8, tzinfo=UTC)
OPERATOR = Principal.of_role("noc-duty", PrincipalKind.PERSON, "noc-duty", Role.ADMIN)


def gallery_pages(now: Clock = lambda: NOON) -> Pages:
    """The pages of the gallery, at an instant that does not move."""
    options = PageOptions(
        navigation=CONTROL_NAVIGATION,
        search_path="/nodes",
        sign_out_path="/session/end",
        site_name="loom-net",
        now=now,
    )
    return build_pages(["tests.unit.shared.web.pages"], options)


def samples() -> dict[str, Any]:
    """What the sample templates show."""
    return {
        "now": NOON,
        "minutes_38": NOON - timedelta(minutes=38),
        "hours_1": NOON - timedelta(hours=1, minutes=22),
        "days_61": NOON - timedelta(days=61),
        "long_ago": NOON - timedelta(days=400),
        **measured(),
    }


def measured() -> dict[str, Any]:
    """Values of charts: ten hours by five minutes, with an hour of which nothing is known."""
    places = range(120)
    inward = [None if 30 <= place < 42 else 1.4e9 + 4e8 * sin(place / 9) for place in places]
    return {
        "times": [NOON - timedelta(minutes=5 * (119 - place)) for place in places],
        "inward": inward,
        "outward": [None if value is None else value / 2 for value in inward],
        "before": [1.2e9 + 3e8 * sin(place / 8) for place in places],
        "scores": [4000 * 2 ** (-place / 12) for place in places],
    }


def problem(status: int, code: str) -> dict[str, Any]:
    """A refusal as the error page gets it."""
    return {"status": status, "code": code, "detail": "A sentence.", "request_id": "3f2c9ab0d41e7788"}


def gallery_app() -> FastAPI:
    """Serves every sample under the same headers as the product."""
    scripts = StreamScripts()
    app = FastAPI(docs_url=None, redoc_url=None, openapi_url=None)
    pages = gallery_pages()
    app.include_router(pages_router(pages))
    app.add_middleware(SecurityHeaders)

    @app.get("/errors/{status}/{code}")
    async def error(request: Request, status: int, code: str, *, anonymous: bool = False) -> HTMLResponse:
        request.state.principal = None if anonymous else OPERATOR
        return pages.render(request, "errors/problem.html", status_code=status, problem=problem(status, code))

    @app.get("/stream/{script}")
    async def stream(request: Request, script: str) -> Response:
        return scripts.play(script, request.headers.get("last-event-id", ""))

    @app.get("/refuse/{status}")
    async def refuse(status: int) -> HTMLResponse:
        return HTMLResponse("<h1>not for the page</h1>", status_code=status)

    @app.post("/echo")
    async def echo(request: Request) -> HTMLResponse:
        return HTMLResponse(f"<b>{request.headers.get('x-csrf-token', 'none')}</b>")

    @app.get("/part")
    async def part() -> HTMLResponse:
        return HTMLResponse("<b>fresh</b>")

    @app.get("/{name:path}")
    async def sample(request: Request, name: str) -> HTMLResponse:
        request.state.principal = OPERATOR
        return pages.render(request, f"gallery/{name or 'nodes'}.html", **samples())

    return app
