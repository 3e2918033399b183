"""Portal routes of personal access tokens."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Form, Request, Response
from fastapi.responses import RedirectResponse

from control_server.api_tokens.dependencies import ApiTokens, TokenOwner
from control_server.api_tokens.schemas import ApiTokenCreate, TokenId, TypedToken
from control_server.api_tokens.service import ApiTokenService
from control_server.audit.dependencies import AuditTrail
from shared.kernel.principal import Principal, Scope
from shared.web.forms import drawn_again, field_messages, parse
from shared.web.problems import STATUS_OF_KIND
from shared.web.rendering import render
from shared.web.routing import Router

router = Router(prefix="/access/tokens", include_in_schema=False)

_UNTYPED = TypedToken(expires_in="7776000", scopes=[Scope.FLEET_READ])


@router.get("")
async def show_tokens(request: Request, owner: TokenOwner, tokens: ApiTokens) -> Response:
    """Tokens of the one who looks, for administrators everybody's, and the form for a new one."""
    shown = await _shown(owner, tokens)
    return render(request, "api_tokens/tokens.html", typed=_UNTYPED, errors={}, created=None, **shown)


@router.post("")
async def create_api_token_from_page(
    request: Request,
    owner: TokenOwner,
    tokens: ApiTokens,
    audit: AuditTrail,
    typed: Annotated[TypedToken, Form()],
) -> Response:
    """Make a token and show its secret on this one page."""
    before = await _shown(owner, tokens)
    with drawn_again(
        lambda refusal: render(
            request,
            "api_tokens/tokens.html",
            status_code=STATUS_OF_KIND[refusal.kind],
            typed=typed,
            errors=field_messages(refusal),
            created=None,
            **before,
        )
    ):
        created = await tokens.create(owner, parse(ApiTokenCreate, typed.model_dump()), audit)
    shown = await _shown(owner, tokens)
    return render(
        request,
        "api_tokens/tokens.html",
        status_code=201,
        typed=_UNTYPED,
        errors={},
        created=created,
        **shown,
    )


@router.post("/{token_id}/rotate")
async def rotate_api_token_from_page(
    request: Request, owner: TokenOwner, token_id: TokenId, tokens: ApiTokens, audit: AuditTrail
) -> Response:
    """Replace a token and show the new secret on this one page."""
    created = await tokens.rotate(owner, token_id, audit)
    shown = await _shown(owner, tokens)
    return render(
        request,
        "api_tokens/tokens.html",
        status_code=201,
        typed=_UNTYPED,
        errors={},
        created=created,
        **shown,
    )


@router.post("/{token_id}/revoke")
async def revoke_api_token_from_page(
    owner: TokenOwner, token_id: TokenId, tokens: ApiTokens, audit: AuditTrail
) -> Response:
    """Make a token useless."""
    await tokens.revoke(owner, token_id, audit)
    return RedirectResponse("/access/tokens", status_code=303)


async def _shown(owner: Principal, tokens: ApiTokenService) -> dict[str, Any]:
    others = []
    if owner.may(Scope.ACCESS_ADMIN):
        others = [token for token in await tokens.list_all() if token.owner_id != owner.id]
    return {
        "own": await tokens.list_own(owner),
        "others": others,
        "scopes": [scope for scope in Scope if owner.may(scope)],
    }
