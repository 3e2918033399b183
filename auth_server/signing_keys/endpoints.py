"""Where the public keys are read, and where administrators rotate and retire them."""

from __future__ import annotations

from fastapi import APIRouter, status
from fastapi.responses import JSONResponse

from auth_server.accounts.dependencies import Administrator
from auth_server.sessions.dependencies import ConfirmedAdministrator
from auth_server.signing_keys.dependencies import AdministeredKeys, SigningKeys
from auth_server.signing_keys.models import SigningKey
from auth_server.signing_keys.schemas import RotationWanted, SigningKeyRead

router = APIRouter(tags=["keys"])

_ADMINISTRATION = "/auth/api/v1/signing-keys"


@router.get("/auth/jwks.json")
async def read_keys(keys: SigningKeys) -> JSONResponse:
    """The JWK Set (RFC 7517): every key that signs, will sign or has signed."""
    found = await keys.public_keys()
    return JSONResponse({"keys": found}, headers={"Cache-Control": "public, max-age=300"})


@router.get(_ADMINISTRATION, response_model=list[SigningKeyRead])
async def list_signing_keys(_administrator: Administrator, keys: AdministeredKeys) -> list[SigningKey]:
    """Every key: those that sign first, then those that will, then those that did."""
    return list(await keys.list())


@router.post(f"{_ADMINISTRATION}/rotate", response_model=list[SigningKeyRead])
async def rotate_signing_keys(
    wanted: RotationWanted, administrator: ConfirmedAdministrator, keys: AdministeredKeys
) -> list[SigningKey]:
    """Let the published next keys sign; old tokens stay good. Needs a fresh passkey."""
    await keys.rotate(administrator, insist=wanted.insist)
    return list(await keys.list())


@router.delete(f"{_ADMINISTRATION}/{{kid}}", status_code=status.HTTP_204_NO_CONTENT)
async def retire_signing_key(kid: str, administrator: ConfirmedAdministrator, keys: AdministeredKeys) -> None:
    """Forget a key that others may know; what it signed is refused from now on. Needs a fresh passkey."""
    await keys.retire(administrator, kid)
