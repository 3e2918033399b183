"""Wiring of routing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends, Request

from control_server.ipam.dependencies import IpamOf
from control_server.nodes.dependencies import Nodes, as_names
from control_server.nodes.service import NodeService
from control_server.observations.dependencies import ObservationsOf
from control_server.peerings.dependencies import peering_register
from control_server.peerings.service import PeeringRegister
from control_server.resources import ControlResources
from control_server.routing.repository import NumbersRepository
from control_server.routing.service import (
    BestPathWatch,
    FleetExposition,
    RouteRetention,
    RoutingService,
    TableKeeper,
)
from control_server.traffic.dependencies import Traffic
from shared.web.transactions import Session


def routing_service(resources: ControlResources) -> RoutingService:
    """Routing, for requests and for others."""
    return RoutingService(resources.database, resources.cache, as_names(resources).name_of)


def table_keeper(resources: ControlResources, watch: BestPathWatch | None) -> TableKeeper:
    """Takes reports, from wherever they come."""
    return TableKeeper(resources.database, resources.cache, resources.now, watch)


def route_retention(resources: ControlResources) -> RouteRetention:
    """Forgets what has had its time."""
    return RouteRetention(resources.database, resources.settings.keep.route_changes, resources.now)


async def _routing(request: Request) -> RoutingService:
    return routing_service(request.app.state.resources)


async def _keeper(request: Request) -> TableKeeper:
    keeper: TableKeeper = request.app.state.table_keeper
    return keeper


Routing = Annotated[RoutingService, Depends(_routing)]
Tables = Annotated[TableKeeper, Depends(_keeper)]


@dataclass(frozen=True, slots=True)
class RoutingDesk:
    """Routing, and the nodes that it is of."""

    routing: RoutingService
    nodes: NodeService


async def _desk(routing: Routing, nodes: Nodes) -> RoutingDesk:
    return RoutingDesk(routing, nodes)


Desk = Annotated[RoutingDesk, Depends(_desk)]


async def _register(request: Request, session: Session, ipam: IpamOf) -> PeeringRegister:
    return peering_register(session, ipam, request.app.state.resources.now)


Register = Annotated[PeeringRegister, Depends(_register)]


async def _exposition(
    session: Session, nodes: Nodes, observations: ObservationsOf, traffic: Traffic, register: Register
) -> FleetExposition:
    return FleetExposition(nodes, observations, NumbersRepository(session), traffic, register)


Exposition = Annotated[FleetExposition, Depends(_exposition)]
