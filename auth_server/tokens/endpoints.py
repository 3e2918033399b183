"""What clients call: token, userinfo, introspection, revocation. Refusals are OAuth's (RFC 6749, 5.2)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse, Response
from pydantic_core import to_json

from auth_server.clients.dependencies import form_of, media_type_of, read_body, read_form
from auth_server.clients.errors import OAuthError
from auth_server.clients.rules.parameters import FORM, parse_parameters
from auth_server.tokens.dependencies import (
    authenticated,
    exchanged,
    nonce_headers,
    proven_key,
    reading,
    recheck_network,
    spend_proof,
    writing,
)
from auth_server.tokens.errors import (
    BearerError,
    BearerMalformed,
    BearerMissing,
    NonceNeeded,
    ProofNeedsNonce,
    ProofRejected,
)
from auth_server.tokens.rules import describable
from auth_server.tokens.schemas import Presented, TokenRequest
from shared.kernel.errors import AppError, Kind
from shared.kernel.proofs import ALGORITHMS, ProofRefused
from shared.web.direct import DirectRoute

router = APIRouter(tags=["tokens"], route_class=DirectRoute)

_OF_GRANTS = ("code", "redirect_uri", "code_verifier", "refresh_token", "device_code", "scope")

NEVER_KEPT = {"Cache-Control": "no-store", "Pragma": "no-cache"}
#: As they go out, made once: every answer with tokens has them.
_RAW_HEADERS = tuple(
    (name.lower().encode(), value.encode())
    for name, value in {"Content-Type": "application/json", **NEVER_KEPT}.items()
)
_STATUS = {
    Kind.UNAUTHENTICATED: HTTPStatus.UNAUTHORIZED,
    Kind.FORBIDDEN: HTTPStatus.FORBIDDEN,
    Kind.TOO_LARGE: HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
    Kind.THROTTLED: HTTPStatus.TOO_MANY_REQUESTS,
    Kind.UNAVAILABLE: HTTPStatus.SERVICE_UNAVAILABLE,
}


class TokenResponse(JSONResponse):
    """An answer with tokens, which nobody keeps."""

    def render(self, content: Any) -> bytes:
        """The body."""
        return to_json(content)

    def init_headers(self, headers: Mapping[str, str] | None = None) -> None:
        """Those of every such answer, with these."""
        self.raw_headers = [(b"content-length", b"%d" % len(self.body)), *_RAW_HEADERS]
        for name, value in (headers or {}).items():
            self.raw_headers.append((name.lower().encode(), value.encode()))


@router.post("/auth/token", openapi_extra=form_of("grant_type", optional=_OF_GRANTS))
async def exchange(request: Request) -> Response:
    """Tokens for a code, a refresh token, a device or the client itself (RFC 6749, section 3.2)."""
    form = await read_form(request)
    key = await proven_key(request)
    client = await authenticated(request, form)
    await recheck_network(request, client, form)
    answer = await exchanged(request, client, TokenRequest(form, key))
    return TokenResponse(answer, headers=nonce_headers(request))


@router.post("/auth/introspect", openapi_extra=form_of("token", optional=["token_type_hint"]))
async def introspect(request: Request) -> Response:
    """Whether a token is good now (RFC 7662)."""
    form = await read_form(request)
    client = await authenticated(request, form)
    async with reading(request) as tokens:
        found = await tokens.inspection.introspect(client, form.require("token"))
    return JSONResponse(found, headers=NEVER_KEPT)


@router.post("/auth/standing", openapi_extra=form_of("sub"))
async def read_standing(request: Request) -> Response:
    """Whether the account `sub` is enabled, and its role of now; for our own services."""
    form = await read_form(request)
    client = await authenticated(request, form)
    async with reading(request) as tokens:
        found = await tokens.inspection.standing(client, form.require("sub"))
    return JSONResponse(found, headers=NEVER_KEPT)


@router.post("/auth/revoke", openapi_extra=form_of("token", optional=["token_type_hint"]))
async def revoke(request: Request) -> Response:
    """End the family of a token (RFC 7009)."""
    form = await read_form(request)
    client = await authenticated(request, form)
    async with writing(request) as tokens:
        await tokens.inspection.revoke(client, form.require("token"))
    return Response(headers=NEVER_KEPT)


async def _presented(request: Request) -> Presented:
    """The one access token of the request (RFC 6750, section 2; RFC 9449, section 7). Raises BearerError."""
    if "access_token" in request.query_params:
        raise BearerMalformed
    headers = request.headers.getlist("authorization")
    if len(headers) > 1:
        raise BearerMalformed
    scheme, _, sent = "".join(headers).partition(" ")
    found = [sent.strip()] if scheme.lower() in {"bearer", "dpop"} else []
    if media_type_of(request) == FORM:
        form = parse_parameters(await read_body(request))
        if "access_token" in form.repeated:
            raise BearerMalformed
        found += [form.values["access_token"]] if "access_token" in form.values else []
    if len(found) > 1:
        raise BearerMalformed
    if not found or not found[0]:
        raise BearerMissing
    return await _with_proof(request, found[0]) if scheme.lower() == "dpop" else Presented(found[0])


async def _with_proof(request: Request, token: str) -> Presented:
    try:
        return Presented(token, await spend_proof(request, request.headers.getlist("dpop"), token))
    except ProofRefused:
        raise ProofRejected from None
    except NonceNeeded:
        raise ProofNeedsNonce from None


@router.get("/auth/userinfo")
async def read_userinfo(request: Request) -> Response:
    """What the token's scopes tell of the person (OpenID Connect Core, section 5.3)."""
    shown = await _presented(request)
    async with reading(request) as tokens:
        told = await tokens.inspection.userinfo(shown)
    return JSONResponse(told, headers=NEVER_KEPT | nonce_headers(request))


@router.post("/auth/userinfo", include_in_schema=False)
async def read_userinfo_by_form(request: Request) -> Response:
    """The same, by POST."""
    return await read_userinfo(request)


async def answer_oauth_error(request: Request, error: Exception) -> Response:
    """A refusal as a client understands it."""
    assert isinstance(error, OAuthError)  # noqa: S101 - registered for this class only
    headers = NEVER_KEPT | nonce_headers(request)
    if error.kind is Kind.UNAUTHENTICATED:
        headers["WWW-Authenticate"] = 'Basic realm="routeloom", charset="UTF-8"'
    return _refusal(error, error.error, headers)


async def answer_bearer_error(request: Request, error: Exception) -> Response:
    """A refusal of an access token (RFC 6750, section 3)."""
    assert isinstance(error, BearerError)  # noqa: S101 - registered for this class only
    by_key = request.headers.get("authorization", "").lower().startswith("dpop ")
    challenge = (
        f'DPoP realm="routeloom", algs="{" ".join(ALGORITHMS)}"' if by_key else 'Bearer realm="routeloom"'
    )
    if not error.error:
        return Response(
            status_code=HTTPStatus.UNAUTHORIZED, headers={**NEVER_KEPT, "WWW-Authenticate": challenge}
        )
    challenge += f', error="{error.error}", error_description="{describable(error.detail)}"'
    headers = NEVER_KEPT | nonce_headers(request)
    return _refusal(error, error.error, {**headers, "WWW-Authenticate": challenge})


def _refusal(error: AppError, word: str, headers: dict[str, str]) -> Response:
    if error.retry_after is not None:
        headers["Retry-After"] = str(max(1, math.ceil(error.retry_after.total_seconds())))
    body = {"error": word, "error_description": describable(error.detail)}
    return JSONResponse(body, status_code=_STATUS.get(error.kind, HTTPStatus.BAD_REQUEST), headers=headers)
