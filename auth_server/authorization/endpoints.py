"""Discovery, in both well-known forms, and the requests that clients push before the person comes."""

from __future__ import annotations

from fastapi import APIRouter, Request, status
from fastapi.responses import JSONResponse

from auth_server.authorization.dependencies import AuthorizationForClients
from auth_server.authorization.rules import metadata
from auth_server.clients.dependencies import Form, form_of
from auth_server.settings import AuthSettings
from auth_server.tokens.dependencies import LeavingClient, ProvenKey, nonce_headers
from auth_server.tokens.endpoints import NEVER_KEPT

router = APIRouter(tags=["discovery"])
#: Called by programs, which have no form token of ours.
protocol_router = APIRouter(tags=["tokens"])

_ASKED = ("response_type", "scope", "redirect_uri", "code_challenge", "code_challenge_method")


@protocol_router.post("/auth/par", status_code=status.HTTP_201_CREATED, openapi_extra=form_of(*_ASKED))
async def push(
    request: Request,
    form: Form,
    key: ProvenKey,
    client: LeavingClient,
    authorization: AuthorizationForClients,
) -> JSONResponse:
    """Keep an authorization request, whose name the browser then brings (RFC 9126)."""
    kept = await authorization.push(client, form, key)
    headers = NEVER_KEPT | nonce_headers(request)
    return JSONResponse(kept, status_code=status.HTTP_201_CREATED, headers=headers)


@router.get("/auth/.well-known/openid-configuration")
@router.get("/.well-known/oauth-authorization-server/auth", include_in_schema=False)
@router.get("/.well-known/openid-configuration/auth", include_in_schema=False)
async def read_metadata(request: Request) -> JSONResponse:
    """The provider's metadata; the issuer is configuration, whatever the request's Host says."""
    settings: AuthSettings = request.app.state.resources.settings
    return JSONResponse(metadata(settings.issuer), headers={"Cache-Control": "public, max-age=300"})
