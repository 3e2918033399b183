"""What clients call: token, userinfo, introspection, revocation. Refusals are OAuth's (RFC 6749, 5.2)."""

from __future__ import annotations

import math
from http import HTTPStatus
from typing import Annotated

from fastapi import APIRouter, Depends, Request
from fastapi.responses import JSONResponse, Response

from auth_server.clients.dependencies import Form, form_of, media_type_of, read_body
from auth_server.clients.errors import OAuthError
from auth_server.clients.models import Client
from auth_server.clients.rules.parameters import FORM, parse_parameters, read_credentials
from auth_server.tokens.dependencies import (
    AssertedClient,
    ProvenKey,
    ReadingTokens,
    WritingTokens,
    address_of,
    recheck_network,
    spend_proof,
)
from auth_server.tokens.errors import BearerError, BearerMalformed, BearerMissing, ProofRejected
from auth_server.tokens.rules import describable
from auth_server.tokens.schemas import Presented, TokenRequest
from shared.kernel.errors import AppError, Kind
from shared.kernel.proofs import ALGORITHMS, ProofRefused

router = APIRouter(tags=["tokens"])

_OF_GRANTS = ("code", "redirect_uri", "code_verifier", "refresh_token", "device_code", "scope")

NEVER_KEPT = {"Cache-Control": "no-store", "Pragma": "no-cache"}
_STATUS = {
    Kind.UNAUTHENTICATED: HTTPStatus.UNAUTHORIZED,
    Kind.FORBIDDEN: HTTPStatus.FORBIDDEN,
    Kind.THROTTLED: HTTPStatus.TOO_MANY_REQUESTS,
    Kind.UNAVAILABLE: HTTPStatus.SERVICE_UNAVAILABLE,
}


async def _writing_client(
    request: Request, form: Form, asserted: AssertedClient, tokens: WritingTokens
) -> Client:
    if asserted is not None:
        return asserted
    credentials = read_credentials(request.headers.get("authorization"), form)
    return await tokens.clients.authenticate(credentials, address_of(request))


async def _reading_client(
    request: Request, form: Form, asserted: AssertedClient, tokens: ReadingTokens
) -> Client:
    if asserted is not None:
        return asserted
    credentials = read_credentials(request.headers.get("authorization"), form)
    return await tokens.clients.authenticate(credentials, address_of(request))


WritingClient = Annotated[Client, Depends(_writing_client)]
ReadingClient = Annotated[Client, Depends(_reading_client)]


@router.post(
    "/auth/token",
    dependencies=[Depends(recheck_network)],
    openapi_extra=form_of("grant_type", optional=_OF_GRANTS),
)
async def exchange(form: Form, key: ProvenKey, client: WritingClient, tokens: WritingTokens) -> JSONResponse:
    """Tokens for a code, a refresh token, a device or the client itself (RFC 6749, section 3.2)."""
    answer = await tokens.redemption.exchange(client, TokenRequest(form, key))
    return JSONResponse(answer, headers=NEVER_KEPT)


@router.post("/auth/introspect", openapi_extra=form_of("token", optional=["token_type_hint"]))
async def introspect(form: Form, client: ReadingClient, tokens: ReadingTokens) -> JSONResponse:
    """Whether a token is good now (RFC 7662)."""
    found = await tokens.inspection.introspect(client, form.require("token"))
    return JSONResponse(found, headers=NEVER_KEPT)


@router.post("/auth/standing", openapi_extra=form_of("sub"))
async def read_standing(form: Form, client: ReadingClient, tokens: ReadingTokens) -> JSONResponse:
    """Whether the account `sub` is enabled, and its role of now; for our own services."""
    found = await tokens.inspection.standing(client, form.require("sub"))
    return JSONResponse(found, headers=NEVER_KEPT)


@router.post("/auth/revoke", openapi_extra=form_of("token", optional=["token_type_hint"]))
async def revoke(form: Form, client: WritingClient, tokens: WritingTokens) -> Response:
    """End the family of a token (RFC 7009)."""
    await tokens.inspection.revoke(client, form.require("token"))
    return Response(headers=NEVER_KEPT)


async def _presented(request: Request) -> Presented:
    """The one access token of the request (RFC 6750, section 2; RFC 9449, section 7). Raises BearerError."""
    if "access_token" in request.query_params:
        raise BearerMalformed
    scheme, _, sent = request.headers.get("authorization", "").partition(" ")
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
    if scheme.lower() != "dpop":
        return Presented(found[0])
    try:
        key = await spend_proof(request, request.headers.getlist("dpop"), found[0])
    except ProofRefused:
        raise ProofRejected from None
    return Presented(found[0], key)


Shown = Annotated[Presented, Depends(_presented)]


@router.get("/auth/userinfo")
async def read_userinfo(shown: Shown, tokens: ReadingTokens) -> JSONResponse:
    """What the token's scopes tell of the person (OpenID Connect Core, section 5.3)."""
    return JSONResponse(await tokens.inspection.userinfo(shown), headers=NEVER_KEPT)


@router.post("/auth/userinfo", include_in_schema=False)
async def read_userinfo_by_form(shown: Shown, tokens: ReadingTokens) -> JSONResponse:
    """The same, by POST."""
    return JSONResponse(await tokens.inspection.userinfo(shown), headers=NEVER_KEPT)


async def answer_oauth_error(_request: Request, error: Exception) -> Response:
    """A refusal as a client understands it."""
    assert isinstance(error, OAuthError)  # noqa: S101 - registered for this class only
    headers = dict(NEVER_KEPT)
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
    return _refusal(error, error.error, {**NEVER_KEPT, "WWW-Authenticate": challenge})


def _refusal(error: AppError, word: str, headers: dict[str, str]) -> Response:
    if error.retry_after is not None:
        headers["Retry-After"] = str(max(1, math.ceil(error.retry_after.total_seconds())))
    body = {"error": word, "error_description": describable(error.detail)}
    return JSONResponse(body, status_code=_STATUS.get(error.kind, HTTPStatus.BAD_REQUEST), headers=headers)
