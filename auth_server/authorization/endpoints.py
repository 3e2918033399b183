"""Discovery: what this server offers, in both well-known forms."""

from __future__ import annotations

from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse

from auth_server.authorization.rules import metadata
from auth_server.settings import AuthSettings

router = APIRouter(tags=["discovery"])


@router.get("/auth/.well-known/openid-configuration")
@router.get("/.well-known/oauth-authorization-server/auth", include_in_schema=False)
@router.get("/.well-known/openid-configuration/auth", include_in_schema=False)
async def read_metadata(request: Request) -> JSONResponse:
    """The provider's metadata; the issuer is configuration, whatever the request's Host says."""
    settings: AuthSettings = request.app.state.resources.settings
    return JSONResponse(metadata(settings.issuer), headers={"Cache-Control": "public, max-age=300"})
