"""Wiring of personal access tokens."""

from __future__ import annotations

from typing import Annotated

from fastapi import Depends, Request

from control_server.api_tokens.repository import ApiTokenRepository
from control_server.api_tokens.service import ApiTokenService, TokenGate
from control_server.api_tokens.store import TokenLimits
from control_server.resources import ControlResources
from shared.kernel.principal import Principal, Scope
from shared.web.principals import Require, RequireSession
from shared.web.transactions import Session


def token_gate(resources: ControlResources) -> TokenGate:
    """What stands in front of everything that takes a bearer token."""
    limits = TokenLimits(resources.runtime_state, resources.settings.api_tokens, resources.now)
    return TokenGate(resources.database, limits, resources.now)


async def _api_tokens(request: Request, session: Session) -> ApiTokenService:
    return ApiTokenService(ApiTokenRepository(session), request.app.state.resources.now)


ApiTokens = Annotated[ApiTokenService, Depends(_api_tokens)]
#: Whoever may handle tokens of their own: a person in a session. A leaked token must not be able to outlive
#: itself by making another, unless it administers access anyway, as the command line on the host does.
TokenOwner = Annotated[Principal, Depends(RequireSession(unless=Scope.ACCESS_ADMIN))]
TokenAdmin = Annotated[Principal, Depends(Require(Scope.ACCESS_ADMIN))]
