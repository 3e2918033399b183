"""Where the public keys are read."""

from __future__ import annotations

from fastapi import APIRouter
from fastapi.responses import JSONResponse

from auth_server.signing_keys.dependencies import SigningKeys

router = APIRouter(tags=["keys"])


@router.get("/auth/jwks.json")
async def read_keys(keys: SigningKeys) -> JSONResponse:
    """The JWK Set (RFC 7517): every key that signs, will sign or has signed."""
    found = await keys.public_keys()
    return JSONResponse({"keys": found}, headers={"Cache-Control": "public, max-age=300"})
