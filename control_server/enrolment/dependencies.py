"""Wiring of enrolment."""

from __future__ import annotations

from typing import Annotated

from fastapi import Depends, Request

from control_server.agents.dependencies import Agents
from control_server.audit.dependencies import AuditTrail
from control_server.enrolment.repository import EnrolmentRepository
from control_server.enrolment.service import EnrolmentService
from control_server.nodes.dependencies import Nodes
from shared.kernel.principal import Principal, Scope
from shared.web.principals import Require
from shared.web.transactions import Session


async def _enrolments(
    request: Request, session: Session, nodes: Nodes, agents: Agents, audit: AuditTrail
) -> EnrolmentService:
    now = request.app.state.resources.now
    return EnrolmentService(EnrolmentRepository(session), nodes, agents, audit, now)


Enrolments = Annotated[EnrolmentService, Depends(_enrolments)]
EnrolmentAdmin = Annotated[Principal, Depends(Require(Scope.ACCESS_ADMIN))]
