"""JSON routes of personal access tokens."""

from __future__ import annotations

from collections.abc import Sequence

from fastapi import status

from control_server.api_tokens.dependencies import ApiTokens, TokenAdmin, TokenOwner
from control_server.api_tokens.schemas import ApiTokenCreate, ApiTokenCreated, ApiTokenRead, TokenId
from control_server.audit.dependencies import AuditTrail
from shared.web.routing import Router

router = Router(prefix="/api/v1/tokens", tags=["access tokens"])


@router.get("")
async def list_api_tokens(owner: TokenOwner, tokens: ApiTokens) -> Sequence[ApiTokenRead]:
    """Your newest access tokens, without their secrets."""
    return await tokens.list_own(owner)


@router.get("/all")
async def list_all_api_tokens(_admin: TokenAdmin, tokens: ApiTokens) -> Sequence[ApiTokenRead]:
    """Everybody's newest access tokens, without their secrets."""
    return await tokens.list_all()


@router.post("", status_code=status.HTTP_201_CREATED)
async def create_api_token(
    owner: TokenOwner, wanted: ApiTokenCreate, tokens: ApiTokens, audit: AuditTrail
) -> ApiTokenCreated:
    """A new access token of yours; its secret is shown once."""
    return await tokens.create(owner, wanted, audit)


@router.post("/{token_id}/rotate", status_code=status.HTTP_201_CREATED)
async def rotate_api_token(
    owner: TokenOwner, token_id: TokenId, tokens: ApiTokens, audit: AuditTrail
) -> ApiTokenCreated:
    """Replace one of your tokens by a fresh one with the same name, scopes and length of life."""
    return await tokens.rotate(owner, token_id, audit)


@router.delete("/{token_id}", status_code=status.HTTP_204_NO_CONTENT)
async def revoke_api_token(
    owner: TokenOwner, token_id: TokenId, tokens: ApiTokens, audit: AuditTrail
) -> None:
    """Make a token useless at once: one of yours, or for administrators anybody's."""
    await tokens.revoke(owner, token_id, audit)
