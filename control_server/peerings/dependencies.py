"""Wiring of peerings and links."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends
from sqlalchemy.ext.asyncio import AsyncSession

from control_server.agents.dependencies import Agents
from control_server.ipam.dependencies import IpamOf
from control_server.ipam.service import Ipam
from control_server.nodes.dependencies import AsNamesOf, Nodes
from control_server.nodes.service import NodeService
from control_server.observations.dependencies import ObservationsOf
from control_server.observations.service import Observations
from control_server.peerings.repository import PeeringRepository
from control_server.peerings.service import Links, PeeringRegister, Peerings
from control_server.policy.dependencies import WritingOf
from shared.kernel.clock import Clock


def _peerings(writing: WritingOf, nodes: Nodes, agents: Agents, ipam: IpamOf) -> Peerings:
    rows = PeeringRepository(writing.session)
    return Peerings(rows, nodes, agents, ipam, writing.audit, writing.publisher, writing.now)


def _links(writing: WritingOf, nodes: Nodes, ipam: IpamOf) -> Links:
    rows = PeeringRepository(writing.session)
    return Links(rows, nodes, ipam, writing.audit, writing.publisher, writing.now)


PeeringsOf = Annotated[Peerings, Depends(_peerings)]
LinksOf = Annotated[Links, Depends(_links)]


@dataclass(frozen=True, slots=True)
class PeeringDesk:
    """What the pages of peerings ask."""

    peerings: Peerings
    links: Links
    nodes: NodeService
    observations: Observations
    #: The registry's name of an AS, where it has one and answers.
    as_name: Callable[[str], Awaitable[str | None]]


def _desk(
    peerings: PeeringsOf, links: LinksOf, nodes: Nodes, seen: ObservationsOf, names: AsNamesOf
) -> PeeringDesk:
    return PeeringDesk(peerings, links, nodes, seen, names.name_of)


Desk = Annotated[PeeringDesk, Depends(_desk)]


def peering_register(session: AsyncSession, ipam: Ipam, now: Clock) -> PeeringRegister:
    """All peerings and links, for those who derive something from them."""
    return PeeringRegister(PeeringRepository(session), ipam, now)
