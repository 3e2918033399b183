"""Wiring of the portal's sign-in."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Annotated

from fastapi import Depends, Request

from control_server.audit.dependencies import AuditTrail, audit_service
from control_server.operators.repository import OperatorRepository
from control_server.operators.service import OperatorService
from control_server.resources import ControlResources
from shared.web.transactions import Session

#: Host-bound, unreadable for scripts, and never sent to another path or over plain http but on localhost.
SESSION_COOKIE = "__Host-rl_control"


def _operators(request: Request, session: Session, audit: AuditTrail) -> OperatorService:
    resources: ControlResources = request.app.state.resources
    return OperatorService(OperatorRepository(session), audit, resources.settings.sessions, resources.now)


Operators = Annotated[OperatorService, Depends(_operators)]


async def _follower(request: Request) -> AsyncIterator[OperatorService]:
    """A link is followed by GET, which otherwise only reads: it needs a transaction of its own."""
    resources: ControlResources = request.app.state.resources
    address = request.client.host if request.client else ""
    async with resources.database.transaction() as session:
        audit = audit_service(session, resources.now, address)
        yield OperatorService(OperatorRepository(session), audit, resources.settings.sessions, resources.now)


LinkFollower = Annotated[OperatorService, Depends(_follower, scope="function")]
