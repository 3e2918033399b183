"""Wiring of peerings and links."""

from __future__ import annotations

from typing import Annotated

from fastapi import Depends, Request
from sqlalchemy.ext.asyncio import AsyncSession

from control_server.agents.dependencies import Agents
from control_server.audit.dependencies import AuditTrail
from control_server.ipam.dependencies import IpamOf
from control_server.ipam.service import Ipam
from control_server.nodes.dependencies import Nodes
from control_server.peerings.repository import PeeringRepository
from control_server.peerings.service import Links, PeeringRegister, Peerings
from control_server.policy.dependencies import PublisherOf
from shared.kernel.clock import Clock
from shared.web.transactions import Session


def _peerings(  # noqa: PLR0913, PLR0917 - one dependency each
    request: Request,
    session: Session,
    nodes: Nodes,
    agents: Agents,
    ipam: IpamOf,
    audit: AuditTrail,
    publisher: PublisherOf,
) -> Peerings:
    now = request.app.state.resources.now
    return Peerings(PeeringRepository(session), nodes, agents, ipam, audit, publisher, now)


def _links(  # noqa: PLR0913, PLR0917 - one dependency each
    request: Request, session: Session, nodes: Nodes, ipam: IpamOf, audit: AuditTrail, publisher: PublisherOf
) -> Links:
    return Links(PeeringRepository(session), nodes, ipam, audit, publisher, request.app.state.resources.now)


PeeringsOf = Annotated[Peerings, Depends(_peerings)]
LinksOf = Annotated[Links, Depends(_links)]


def peering_register(session: AsyncSession, ipam: Ipam, now: Clock) -> PeeringRegister:
    """All peerings and links, for those who derive something from them."""
    return PeeringRegister(PeeringRepository(session), ipam, now)
