"""Who may administer, now; and what joins several features."""

from __future__ import annotations

from typing import Annotated

from fastapi import Depends, Request

from auth_server.accounts.dependencies import Administrator
from auth_server.authorization.dependencies import authorization_service
from auth_server.portal.service import Applications
from auth_server.sessions.dependencies import FreshForForm
from auth_server.tokens.dependencies import address_of, token_services
from shared.kernel.principal import Principal
from shared.web.transactions import Session


async def _with_fresh_passkey_for_form(administrator: Administrator, _fresh: FreshForForm) -> Principal:
    return administrator


def _applications(request: Request, session: Session) -> Applications:
    parts, address = request.app.state.tokens, address_of(request)
    tokens = token_services(parts, session, address)
    return Applications(authorization_service(parts, session, address), tokens.grants, tokens.clients)


#: For forms: sent to confirm, and back.
FreshAdministrator = Annotated[Principal, Depends(_with_fresh_passkey_for_form)]
OwnApplications = Annotated[Applications, Depends(_applications)]
