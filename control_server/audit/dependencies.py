"""Wiring of the audit trail."""

from __future__ import annotations

from typing import Annotated

from fastapi import Depends, Request

from control_server.audit.repository import AuditRepository
from control_server.audit.service import Audit
from shared.kernel.principal import Principal, Scope
from shared.web.principals import Require
from shared.web.transactions import Session


def _audit(request: Request, session: Session) -> Audit:
    address = request.client.host if request.client else ""
    return Audit(AuditRepository(session), request.app.state.resources.now, address)


AuditTrail = Annotated[Audit, Depends(_audit)]
AuditReader = Annotated[Principal, Depends(Require(Scope.AUDIT_READ))]
