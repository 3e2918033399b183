"""Wiring of the audit trail."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Annotated

from fastapi import Depends, Request
from sqlalchemy.ext.asyncio import AsyncSession

from control_server.audit.models import AuditEvent
from control_server.audit.service import Audit, AuditExport
from control_server.resources import ControlResources
from shared.kernel.clock import Clock
from shared.kernel.principal import Principal, Scope
from shared.web.audit.repository import AuditRepository
from shared.web.principals import Require
from shared.web.transactions import Session


def audit_service(session: AsyncSession, now: Clock, from_address: str = "") -> Audit:
    """The trail inside a session that is not the request's own."""
    return Audit(AuditRepository(session, AuditEvent), now, from_address)


async def _audit(request: Request, session: Session) -> Audit:
    address = request.client.host if request.client else ""
    return audit_service(session, request.app.state.resources.now, address)


async def _export(request: Request) -> AuditExport:
    resources: ControlResources = request.app.state.resources

    @asynccontextmanager
    async def reading() -> AsyncIterator[Audit]:
        async with resources.database.reading() as session:
            yield audit_service(session, resources.now)

    return AuditExport(reading)


Exports = Annotated[AuditExport, Depends(_export)]
AuditTrail = Annotated[Audit, Depends(_audit)]
AuditReader = Annotated[Principal, Depends(Require(Scope.AUDIT_READ))]
