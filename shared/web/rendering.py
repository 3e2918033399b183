"""Drawing a page from a route, with whatever pages this application was built with."""

from __future__ import annotations

from http import HTTPStatus
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import HTMLResponse

    from shared.web.pages import Pages


def render(
    request: Request, template: str, *, status_code: int = HTTPStatus.OK, **context: Any
) -> HTMLResponse:
    """Draw `template` for the person who asks."""
    pages: Pages = request.app.state.pages
    return pages.render(request, template, status_code=status_code, **context)
