"""Wiring of traffic."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends, Request
from sqlalchemy.ext.asyncio import AsyncSession

from control_server.nodes.dependencies import Nodes
from control_server.nodes.service import NodeService
from control_server.resources import ControlResources
from control_server.traffic.repository import TrafficRepository
from control_server.traffic.service import SampleKeeper, TrafficRetention, TrafficService
from control_server.traffic.store import Window
from shared.web.transactions import Session


def traffic_service(session: AsyncSession, resources: ControlResources) -> TrafficService:
    """Traffic in a session that is not the request's own."""
    return TrafficService(TrafficRepository(session), Window(resources.cache), resources.now)


def sample_keeper(resources: ControlResources) -> SampleKeeper:
    """Takes samples, from wherever they come."""
    return SampleKeeper(resources.database, resources.cache, resources.now)


def traffic_retention(resources: ControlResources) -> TrafficRetention:
    """Forgets what has had its time."""
    keep = resources.settings.keep
    return TrafficRetention(resources.database, keep.traffic_fine, keep.traffic_coarse, resources.now)


async def _traffic(request: Request, session: Session) -> TrafficService:
    return traffic_service(session, request.app.state.resources)


async def _keeper(request: Request) -> SampleKeeper:
    return sample_keeper(request.app.state.resources)


Traffic = Annotated[TrafficService, Depends(_traffic)]
Samples = Annotated[SampleKeeper, Depends(_keeper)]


@dataclass(frozen=True, slots=True)
class TrafficDesk:
    """Traffic, and the nodes that it is of."""

    traffic: TrafficService
    nodes: NodeService


async def _desk(traffic: Traffic, nodes: Nodes) -> TrafficDesk:
    return TrafficDesk(traffic, nodes)


Desk = Annotated[TrafficDesk, Depends(_desk)]
