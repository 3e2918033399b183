"""Pure ASGI middleware. Never BaseHTTPMiddleware: it hides disconnects from streams."""

from __future__ import annotations

import logging
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from urllib.parse import quote

import structlog
from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse

from shared.kernel.secrets import redact
from shared.web import problems
from shared.web.request_ids import request_id

if TYPE_CHECKING:
    from collections.abc import Mapping

    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from shared.web.metrics import WebMetrics

log = structlog.get_logger(__name__)
#: Asked first: to make a line that nobody reads takes longer than the rest of the note.
_LOGGER = logging.getLogger(__name__)

CONTENT_SECURITY_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "font-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)

_REQUEST_ID = b"x-request-id"
_HEADERS = {
    "Content-Security-Policy": CONTENT_SECURITY_POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
}
#: As they go out, made once: every answer has them.
_RAW_HEADERS = tuple(
    (name.lower().encode(), value.encode())
    for name, value in {**_HEADERS, "Cache-Control": "no-store"}.items()
)


def _header(scope: Scope, name: bytes) -> str | None:
    """The first header of this name, which servers give in small letters."""
    return next((value.decode("latin-1") for given, value in scope["headers"] if given == name), None)


@dataclass(frozen=True, slots=True)
class SecurityHeaders:
    """Sets the policy on every response, also on errors; a route may set a stricter value first."""

    app: ASGIApp

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on, adding headers at the start of the response."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                given = message.get("headers", ())
                names = {name.lower() for name, _ in given}
                message["headers"] = [*given, *(pair for pair in _RAW_HEADERS if pair[0] not in names)]
            await send(message)

        await self.app(scope, receive, with_headers)


@dataclass(frozen=True, slots=True)
class RequestLog:
    """Gives each request an id, counts it, and logs it once when it ends."""

    app: ASGIApp
    metrics: WebMetrics
    service: str

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on under a request id."""
        if scope["type"] not in {"http", "websocket"}:
            await self.app(scope, receive, send)
            return
        with request_id(_header(scope, _REQUEST_ID)) as ident:
            if scope["type"] == "websocket":
                with self.metrics.sockets.track_inprogress():
                    await self.app(scope, receive, send)
                return
            await self._http(scope, receive, send, ident)

    async def _http(self, scope: Scope, receive: Receive, send: Send, ident: str) -> None:
        began = time.monotonic()
        status = 500

        async def noting(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                others = [pair for pair in message.get("headers", ()) if pair[0].lower() != _REQUEST_ID]
                message["headers"] = [*others, (_REQUEST_ID, ident.encode())]
            await send(message)

        try:
            await self.app(scope, receive, noting)
        finally:
            self._note(scope, status, time.monotonic() - began)

    def _note(self, scope: Scope, status: int, seconds: float) -> None:
        route = getattr(scope.get("route"), "path", "unmatched")
        self.metrics.note_request(scope["method"], route, f"{status // 100}xx", seconds)
        if not _LOGGER.isEnabledFor(logging.INFO):
            return
        log.info(
            "request.finished",
            service=self.service,
            method=scope["method"],
            path=redact(scope["path"]),
            status=status,
            ms=round(seconds * 1000, 1),
        )


@dataclass(frozen=True, slots=True)
class CanonicalHost:
    """Sends a browser that came by a loopback address to the public name: passkeys need a name."""

    app: ASGIApp
    public_url: str

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Redirect pages asked for by address; leave programs alone."""
        if scope["type"] == "http" and self._by_address(scope):
            target = f"{self.public_url}{quote(scope['path'])}"
            query = scope["query_string"].decode("latin-1")
            response = RedirectResponse(f"{target}?{query}" if query else target, status_code=307)
            await response(scope, receive, send)
            return
        await self.app(scope, receive, send)

    def _by_address(self, scope: Scope) -> bool:
        if scope["method"] != "GET":
            return False
        headers = Headers(scope=scope)
        host = headers.get("host", "").rsplit(":", 1)[0]
        return host in {"127.0.0.1", "[::1]"} and "text/html" in headers.get("accept", "")


@dataclass(frozen=True, slots=True)
class CatchBugs:
    """Answers 500 for whatever is not a refusal, inside the other middleware, so headers and id are set."""

    app: ASGIApp

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on; a bug before the response began becomes a problem, later it ends the connection."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        began = False

        async def noting(message: Message) -> None:
            nonlocal began
            began = began or message["type"] == "http.response.start"
            await send(message)

        try:
            await self.app(scope, receive, noting)
        except Exception as error:
            answer = await problems.bug(Request(scope, receive), error)
            if began:
                raise
            await answer(scope, receive, send)


#: No request is larger but those of paths with a limit of their own.
MAX_BODY_BYTES = 2_097_152


@dataclass(frozen=True, slots=True)
class BodyLimit:
    """Refuses a request body past the limit, before anything is parsed or kept."""

    app: ASGIApp
    #: Limits of their own by exact path.
    own: Mapping[str, int] = field(default_factory=dict)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on; a body that says or turns out to be too large ends with 413."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        limit = self.own.get(scope["path"], MAX_BODY_BYTES)
        declared = _header(scope, b"content-length") or "0"
        if declared.isdecimal() and int(declared) > limit:
            answer = await problems.too_large(Request(scope, receive), limit)
            await answer(scope, receive, send)
            return
        await self.app(scope, _Counted(receive, limit), send)


class _Counted:
    """Counts what is read of a body that did not say its length, and stops at the limit."""

    def __init__(self, receive: Receive, limit: int) -> None:
        self._receive = receive
        self._limit = limit
        self._bytes = 0

    async def __call__(self) -> Message:
        message = await self._receive()
        self._bytes += len(message.get("body", b""))
        if self._bytes > self._limit:
            raise HTTPException(413, f"A request body has at most {self._limit} bytes.")
        return message
