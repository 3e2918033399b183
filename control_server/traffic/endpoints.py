"""JSON routes of traffic, and the HTTP twin of agents' samples."""

from __future__ import annotations

from typing import Annotated

from fastapi import Query, status

from control_server.agents.dependencies import AgentNode
from control_server.nodes.schemas import NodeId
from control_server.policy.dependencies import Reader
from control_server.traffic.dependencies import Desk, Samples, Traffic
from control_server.traffic.schemas import (
    FleetTrafficRead,
    LinksRead,
    SeriesKey,
    SeriesQuery,
    TrafficRange,
    TrafficRead,
)
from shared.protocol.reports import TrafficSample
from shared.web.routing import Router

router = Router(prefix="/api/v1", tags=["traffic"])
agents = Router(prefix="/api/v1/agent/reports", tags=["agent"])

Wanted = Annotated[TrafficRange, Query(alias="range", description="How far back")]


@router.get("/traffic")
async def get_fleet_traffic(
    _reader: Reader, traffic: Traffic, wanted: Wanted = TrafficRange.HOURS_24
) -> FleetTrafficRead:
    """Traffic of the whole fleet, and of each node."""
    return await traffic.fleet(wanted)


@router.get("/nodes/{node_id}/traffic")
async def get_node_traffic(
    _reader: Reader, node_id: NodeId, desk: Desk, query: Annotated[SeriesQuery, Query()]
) -> TrafficRead:
    """Traffic of one node over time, beside the period of the same length before."""
    await desk.nodes.get(node_id)
    return await desk.traffic.one(node_id, query.range, SeriesKey(query.interface, query.peer))


@router.get("/nodes/{node_id}/traffic/links")
async def list_node_links(
    _reader: Reader, node_id: NodeId, desk: Desk, wanted: Wanted = TrafficRange.HOURS_24
) -> LinksRead:
    """Every link of one node, and every WireGuard peer, the busiest first."""
    await desk.nodes.get(node_id)
    return await desk.traffic.links(node_id, wanted)


@agents.post("/traffic", status_code=status.HTTP_204_NO_CONTENT)
async def report_traffic(node_id: AgentNode, sample: TrafficSample, samples: Samples) -> None:
    """Counters of a node; the same sample that goes over the socket."""
    await samples.take(node_id, sample)
