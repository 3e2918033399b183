"""Wiring of nodes."""

from __future__ import annotations

from typing import Annotated

from fastapi import Depends, Request

from control_server.agents.dependencies import Agents
from control_server.audit.dependencies import AuditTrail
from control_server.nodes.repository import NodeRepository
from control_server.nodes.service import NodeService
from shared.kernel.principal import Principal, Scope
from shared.web.principals import Require
from shared.web.transactions import Session


def _nodes(request: Request, session: Session, agents: Agents, audit: AuditTrail) -> NodeService:
    return NodeService(NodeRepository(session), agents, audit, request.app.state.resources.now)


Nodes = Annotated[NodeService, Depends(_nodes)]
FleetReader = Annotated[Principal, Depends(Require(Scope.FLEET_READ))]
FleetWriter = Annotated[Principal, Depends(Require(Scope.FLEET_WRITE))]
AccessAdmin = Annotated[Principal, Depends(Require(Scope.ACCESS_ADMIN))]
