"""Wiring of the authorization endpoint."""

from __future__ import annotations

from typing import Annotated

from fastapi import Depends, Request
from sqlalchemy.ext.asyncio import AsyncSession

from auth_server.audit.dependencies import audit_service
from auth_server.authorization.repository import AuthorizationRepository
from auth_server.authorization.service import AuthorizationService
from auth_server.signing_keys.dependencies import key_ring
from auth_server.tokens.dependencies import (
    TokenParts,
    WritingTokens,
    address_of,
    token_services,
    writing_session,
)


def authorization_service(
    parts: TokenParts, session: AsyncSession, from_address: str = ""
) -> AuthorizationService:
    """Authorization inside a session of the database."""
    resources = parts.resources
    tokens = token_services(parts, session, from_address)
    return AuthorizationService(
        AuthorizationRepository(session),
        tokens.clients,
        tokens.grants,
        audit_service(session, resources.now, from_address),
        key_ring(resources, session, parts.opened_keys),
        resources.settings,
        resources.now,
    )


def _authorization(
    request: Request, session: Annotated[AsyncSession, Depends(writing_session, scope="function")]
) -> AuthorizationService:
    return authorization_service(request.app.state.tokens, session, address_of(request))


def _for_clients(request: Request, tokens: WritingTokens) -> AuthorizationService:
    return authorization_service(request.app.state.tokens, tokens.session, address_of(request))


#: In the transaction in which the client was authenticated; refusals are OAuth's.
AuthorizationForClients = Annotated[AuthorizationService, Depends(_for_clients)]
Authorization = Annotated[AuthorizationService, Depends(_authorization)]
