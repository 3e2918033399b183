"""What clients call: token, userinfo, introspection, revocation. Refusals are OAuth's (RFC 6749, 5.2)."""

from __future__ import annotations

import math
from http import HTTPStatus
from typing import Annotated

from fastapi import APIRouter, Depends, Request
from fastapi.responses import JSONResponse, Response

from auth_server.clients.dependencies import Form, read_body
from auth_server.clients.errors import OAuthError
from auth_server.clients.models import Client
from auth_server.clients.rules.parameters import FORM, parse_parameters, read_credentials
from auth_server.tokens.dependencies import ReadingTokens, WritingTokens, address_of
from auth_server.tokens.errors import BearerError, BearerMalformed, BearerMissing
from auth_server.tokens.rules import describable
from shared.kernel.errors import AppError, Kind

router = APIRouter(tags=["tokens"])

_NEVER_KEPT = {"Cache-Control": "no-store", "Pragma": "no-cache"}
_STATUS = {
    Kind.UNAUTHENTICATED: HTTPStatus.UNAUTHORIZED,
    Kind.FORBIDDEN: HTTPStatus.FORBIDDEN,
    Kind.THROTTLED: HTTPStatus.TOO_MANY_REQUESTS,
    Kind.UNAVAILABLE: HTTPStatus.SERVICE_UNAVAILABLE,
}


async def _writing_client(request: Request, form: Form, tokens: WritingTokens) -> Client:
    credentials = read_credentials(request.headers.get("authorization"), form)
    return await tokens.clients.authenticate(credentials, address_of(request))


async def _reading_client(request: Request, form: Form, tokens: ReadingTokens) -> Client:
    credentials = read_credentials(request.headers.get("authorization"), form)
    return await tokens.clients.authenticate(credentials, address_of(request))


WritingClient = Annotated[Client, Depends(_writing_client)]
ReadingClient = Annotated[Client, Depends(_reading_client)]


@router.post("/auth/token")
async def exchange(form: Form, client: WritingClient, tokens: WritingTokens) -> JSONResponse:
    """Tokens for a code or a refresh token (RFC 6749, section 3.2)."""
    return JSONResponse(await tokens.redemption.exchange(client, form), headers=_NEVER_KEPT)


@router.post("/auth/introspect")
async def introspect(form: Form, client: ReadingClient, tokens: ReadingTokens) -> JSONResponse:
    """Whether a token is good now (RFC 7662)."""
    found = await tokens.inspection.introspect(client, form.require("token"))
    return JSONResponse(found, headers=_NEVER_KEPT)


@router.post("/auth/revoke")
async def revoke(form: Form, client: WritingClient, tokens: WritingTokens) -> Response:
    """End the family of a token (RFC 7009)."""
    await tokens.inspection.revoke(client, form.require("token"))
    return Response(headers=_NEVER_KEPT)


async def _bearer(request: Request) -> str:
    """The one access token of the request (RFC 6750, section 2). Raises BearerError."""
    if "access_token" in request.query_params:
        raise BearerMalformed
    scheme, _, sent = request.headers.get("authorization", "").partition(" ")
    found = [sent.strip()] if scheme.lower() == "bearer" else []
    if request.headers.get("content-type", "").startswith(FORM):
        form = parse_parameters(await read_body(request))
        if "access_token" in form.repeated:
            raise BearerMalformed
        found += [form.values["access_token"]] if "access_token" in form.values else []
    if len(found) > 1:
        raise BearerMalformed
    if not found or not found[0]:
        raise BearerMissing
    return found[0]


Bearer = Annotated[str, Depends(_bearer)]


@router.get("/auth/userinfo")
async def read_userinfo(token: Bearer, tokens: ReadingTokens) -> JSONResponse:
    """What the token's scopes tell of the person (OpenID Connect Core, section 5.3)."""
    return JSONResponse(await tokens.inspection.userinfo(token), headers=_NEVER_KEPT)


@router.post("/auth/userinfo", include_in_schema=False)
async def read_userinfo_by_form(token: Bearer, tokens: ReadingTokens) -> JSONResponse:
    """The same, by POST."""
    return JSONResponse(await tokens.inspection.userinfo(token), headers=_NEVER_KEPT)


async def answer_oauth_error(_request: Request, error: Exception) -> Response:
    """A refusal as a client understands it."""
    assert isinstance(error, OAuthError)  # noqa: S101 - registered for this class only
    headers = dict(_NEVER_KEPT)
    if error.kind is Kind.UNAUTHENTICATED:
        headers["WWW-Authenticate"] = 'Basic realm="routeloom", charset="UTF-8"'
    return _refusal(error, error.error, headers)


async def answer_bearer_error(_request: Request, error: Exception) -> Response:
    """A refusal of an access token (RFC 6750, section 3)."""
    assert isinstance(error, BearerError)  # noqa: S101 - registered for this class only
    challenge = 'Bearer realm="routeloom"'
    if not error.error:
        return Response(
            status_code=HTTPStatus.UNAUTHORIZED, headers={**_NEVER_KEPT, "WWW-Authenticate": challenge}
        )
    challenge += f', error="{error.error}", error_description="{describable(error.detail)}"'
    return _refusal(error, error.error, {**_NEVER_KEPT, "WWW-Authenticate": challenge})


def _refusal(error: AppError, word: str, headers: dict[str, str]) -> Response:
    if error.retry_after is not None:
        headers["Retry-After"] = str(max(1, math.ceil(error.retry_after.total_seconds())))
    body = {"error": word, "error_description": describable(error.detail)}
    return JSONResponse(body, status_code=_STATUS.get(error.kind, HTTPStatus.BAD_REQUEST), headers=headers)
