"""Which web pages of other origins may read the answers of the protocol's endpoints."""

from __future__ import annotations

from dataclasses import dataclass

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from auth_server.tokens.dependencies import NONCE_HEADER, TokenParts, token_services

#: Public documents: every page may read them.
_FOR_ALL = frozenset(
    {
        "/auth/jwks.json",
        "/auth/.well-known/openid-configuration",
        "/.well-known/oauth-authorization-server/auth",
        "/.well-known/openid-configuration/auth",
    }
)
#: Pages of origins that a client registered. The authorization endpoint is not among them: it is visited.
_FOR_REGISTERED = frozenset({"/auth/token", "/auth/revoke", "/auth/userinfo"})
_METHODS = "GET, POST"
_HEADERS = "Authorization, Content-Type, DPoP"
#: Beside what every page may read: what a client needs for its next proof, or to understand a refusal.
_READABLE = {"Access-Control-Expose-Headers": f"{NONCE_HEADER}, WWW-Authenticate, Retry-After"}


@dataclass(frozen=True, slots=True)
class CrossOriginAccess:
    """Answers preflights and marks answers (Fetch standard, CORS protocol); never with credentials."""

    app: ASGIApp

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on, with what the origin is allowed."""
        allowed = await _allowed_origin(scope)
        if allowed is None:
            await self.app(scope, receive, send)
            return
        marks = {"Access-Control-Allow-Origin": allowed, "Vary": "Origin", **_READABLE}
        if scope["method"] == "OPTIONS" and "access-control-request-method" in Headers(scope=scope):
            marks |= {
                "Access-Control-Allow-Methods": _METHODS,
                "Access-Control-Allow-Headers": _HEADERS,
                "Access-Control-Max-Age": "600",
            }
            await Response(status_code=204, headers=marks)(scope, receive, send)
            return

        async def marking(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(marks)
            await send(message)

        await self.app(scope, receive, marking)


async def _allowed_origin(scope: Scope) -> str | None:
    if scope["type"] != "http":
        return None
    origin = next((value.decode("latin-1") for name, value in scope["headers"] if name == b"origin"), None)
    if origin is None:
        return None
    if scope["path"] in _FOR_ALL:
        return "*"
    if scope["path"] not in _FOR_REGISTERED:
        return None
    parts: TokenParts = scope["app"].state.tokens
    async with parts.resources.database.reading() as session:
        known = await token_services(parts, session).clients.allows_origin(origin)
    return origin if known else None
