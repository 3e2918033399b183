"""Wiring of pools."""

from __future__ import annotations

from typing import Annotated

from fastapi import Depends, Request
from sqlalchemy.ext.asyncio import AsyncSession

from control_server.audit.dependencies import AuditTrail
from control_server.audit.service import Audit
from control_server.ipam.repository import IpamRepository
from control_server.ipam.service import Ipam
from shared.kernel.clock import Clock
from shared.web.transactions import Session


def ipam(session: AsyncSession, audit: Audit, now: Clock) -> Ipam:
    """Pools in a session that is not the request's own."""
    return Ipam(IpamRepository(session), audit, now)


async def _ipam(request: Request, session: Session, audit: AuditTrail) -> Ipam:
    return ipam(session, audit, request.app.state.resources.now)


IpamOf = Annotated[Ipam, Depends(_ipam)]
