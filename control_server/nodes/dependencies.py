"""Wiring of nodes."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends, Request
from sqlalchemy.ext.asyncio import AsyncSession

from control_server.agents.dependencies import Agents, directory
from control_server.agents.service import AgentLink
from control_server.audit.dependencies import AuditTrail, audit_service
from control_server.ipam.dependencies import IpamOf
from control_server.nodes.repository import NodeRepository
from control_server.nodes.service import NodeFacts, NodeRegister, NodeService
from control_server.nodes.store import AsNames
from control_server.policy.dependencies import PublisherOf
from control_server.resources import ControlResources
from shared.kernel.principal import Principal, Scope
from shared.web.principals import Require
from shared.web.transactions import Session


async def _nodes(request: Request, session: Session, agents: Agents, audit: AuditTrail) -> NodeService:
    state = request.app.state
    return NodeService(NodeRepository(session), agents, audit, state.resources.now, state.node_healths)


def as_names(resources: ControlResources) -> AsNames:
    """Names of autonomous systems, for those who answer without a request."""
    settings = resources.settings
    address = (settings.registry_url or settings.web.public_url).rstrip("/")
    return AsNames(resources.cache, resources.http, address)


async def _as_names(request: Request) -> AsNames:
    return as_names(request.app.state.resources)


AsNamesOf = Annotated[AsNames, Depends(_as_names)]
Nodes = Annotated[NodeService, Depends(_nodes)]
FleetReader = Annotated[Principal, Depends(Require(Scope.FLEET_READ))]
FleetWriter = Annotated[Principal, Depends(Require(Scope.FLEET_WRITE))]
AccessAdmin = Annotated[Principal, Depends(Require(Scope.ACCESS_ADMIN))]


@asynccontextmanager
async def reading_nodes(resources: ControlResources, link: AgentLink) -> AsyncIterator[NodeService]:
    """The nodes in a session of their own, for those who may not hold the request's while they wait."""
    async with resources.database.reading() as session:
        agents, audit = directory(session, link), audit_service(session, resources.now)
        yield NodeService(NodeRepository(session), agents, audit, resources.now)


def newest_generations(
    resources: ControlResources,
) -> Callable[[Collection[str]], Awaitable[Mapping[str, int]]]:
    """Looks up the newest generation of each of many nodes, 0 for none, for those who hear from many."""

    async def look_up(node_ids: Collection[str]) -> Mapping[str, int]:
        async with resources.database.reading() as session:
            return await NodeRepository(session).generations(node_ids)

    return look_up


async def fleet_as_text(resources: ControlResources, link: AgentLink) -> str:
    """A text that differs when pages would show another fleet, save for what every heartbeat changes."""
    async with reading_nodes(resources, link) as nodes:
        return await nodes.as_text()


async def _facts(
    request: Request, session: Session, ipam: IpamOf, audit: AuditTrail, publisher: PublisherOf
) -> NodeFacts:
    return NodeFacts(NodeRepository(session), ipam, audit, publisher, request.app.state.resources.now)


Facts = Annotated[NodeFacts, Depends(_facts)]


@dataclass(frozen=True, slots=True)
class NodeAndFacts:
    """What is known of nodes, and what operators wrote."""

    nodes: NodeService
    facts: NodeFacts


async def _joined(nodes: Nodes, facts: Facts) -> NodeAndFacts:
    return NodeAndFacts(nodes, facts)


Joined = Annotated[NodeAndFacts, Depends(_joined)]


def node_register(session: AsyncSession) -> NodeRegister:
    """All nodes, for those who derive something from them."""
    return NodeRegister(NodeRepository(session))
