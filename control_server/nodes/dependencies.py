"""Wiring of nodes."""

from __future__ import annotations

from typing import Annotated

from fastapi import Depends, Request

from control_server.agents.dependencies import Agents, directory
from control_server.agents.service import AgentLink
from control_server.audit.dependencies import AuditTrail, audit_service
from control_server.nodes.repository import NodeRepository
from control_server.nodes.service import NodeService
from control_server.resources import ControlResources
from shared.kernel.principal import Principal, Scope
from shared.web.principals import Require
from shared.web.transactions import Session


def _nodes(request: Request, session: Session, agents: Agents, audit: AuditTrail) -> NodeService:
    return NodeService(NodeRepository(session), agents, audit, request.app.state.resources.now)


Nodes = Annotated[NodeService, Depends(_nodes)]
FleetReader = Annotated[Principal, Depends(Require(Scope.FLEET_READ))]
FleetWriter = Annotated[Principal, Depends(Require(Scope.FLEET_WRITE))]
AccessAdmin = Annotated[Principal, Depends(Require(Scope.ACCESS_ADMIN))]


async def fleet_as_text(resources: ControlResources, link: AgentLink) -> str:
    """Everything that pages show of the fleet, without what changes with every heartbeat."""
    async with resources.database.reading() as session:
        agents = directory(session, link)
        audit = audit_service(session, resources.now)
        service = NodeService(NodeRepository(session), agents, audit, resources.now)
        fleet = await service.list()
    quiet = {"last_seen_at", "load", "uptime_seconds", "memory_used_bytes", "memory_total_bytes"}
    return fleet.model_dump_json(exclude={"items": {"__all__": {"agent": quiet}}})
