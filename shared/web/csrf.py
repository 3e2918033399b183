"""Cross-site request forgery: what a browser sends by itself proves nothing.

Writes that carry one of our cookies need the token of the `__Host-rl_csrf` cookie again, as a form field
or a header, and must not come from another site. Requests with an `Authorization` header or without our
cookies carry no ambient authority and are left alone; `require_token` also binds those (sign-in forms).
"""

from __future__ import annotations

import hmac
import secrets
from typing import TYPE_CHECKING

from starlette.requests import HTTPConnection, Request

from shared.kernel.errors import Forbidden

if TYPE_CHECKING:
    from starlette.responses import Response

COOKIE = "__Host-rl_csrf"
FIELD = "csrf_token"
HEADER = "X-CSRF-Token"
_OURS = "__Host-rl_"
_SAFE = frozenset({"GET", "HEAD", "OPTIONS", "TRACE"})
_FORMS = ("application/x-www-form-urlencoded", "multipart/form-data")


class CrossSiteRequest(Forbidden):
    """The form was not sent from this site, or it is too old. Load the page again and repeat it."""

    code = "csrf_failed"


def issue_token(request: Request) -> str:
    """The token for this browser, made at the first page; `set_cookie` puts a new one into the answer."""
    known = request.cookies.get(COOKIE)
    if known and len(known) >= 43:  # noqa: PLR2004 - 256 bits in base64url
        return known
    fresh: str = getattr(request.state, "fresh_csrf_token", "") or secrets.token_urlsafe(32)
    request.state.fresh_csrf_token = fresh
    return fresh


def set_cookie(request: Request, response: Response) -> None:
    """Hand a token made during this request to the browser."""
    fresh = getattr(request.state, "fresh_csrf_token", "")
    if fresh:
        response.set_cookie(COOKIE, fresh, secure=True, httponly=True, samesite="lax", path="/")


async def protect(connection: HTTPConnection) -> None:
    """App-wide dependency: refuse forged writes that carry a cookie of ours. Raises CrossSiteRequest."""
    if connection.scope["type"] != "http" or connection.scope["method"] in _SAFE:
        return
    if "authorization" in connection.headers:
        return
    if any(name.startswith(_OURS) for name in connection.cookies):
        await _check(connection)


async def require_token(connection: HTTPConnection) -> None:
    """For forms that matter also without a session, such as sign-in. Raises CrossSiteRequest."""
    if connection.scope["type"] == "http" and connection.scope["method"] not in _SAFE:
        await _check(connection)


async def _check(connection: HTTPConnection) -> None:
    site = connection.headers.get("sec-fetch-site", "same-origin")
    if site not in {"same-origin", "none"}:
        raise CrossSiteRequest
    origin = connection.headers.get("origin", "")
    # A page under `no-referrer` sends `null` for its own forms; the token and the fetch metadata decide then.
    if origin not in {"", "null", _public_origin(connection), _own_origin(connection)}:
        raise CrossSiteRequest
    cookie = connection.cookies.get(COOKIE, "")
    sent = connection.headers.get(HEADER, "")
    if not sent and connection.headers.get("content-type", "").startswith(_FORMS):
        assert isinstance(connection, Request)  # noqa: S101 - FastAPI hands its own Request in
        value = (await connection.form()).get(FIELD, "")
        sent = value if isinstance(value, str) else ""
    if not cookie or not hmac.compare_digest(cookie.encode(), sent.encode()):
        raise CrossSiteRequest


def _public_origin(connection: HTTPConnection) -> str:
    settings = getattr(connection.app.state, "settings", None)
    return str(getattr(settings, "public_url", ""))


def _own_origin(connection: HTTPConnection) -> str:
    return f"{connection.url.scheme}://{connection.headers.get('host', '')}"
