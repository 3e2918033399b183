"""JSON routes of routing, and the HTTP twin of agents' prefix reports."""

from __future__ import annotations

from typing import Annotated

from fastapi import Path, Query, Response
from prometheus_client import CONTENT_TYPE_LATEST

from control_server.agents.dependencies import AgentNode
from control_server.nodes.schemas import NodeId
from control_server.policy.dependencies import Reader
from control_server.routing.dependencies import Desk, Exposition, Routing, Tables
from control_server.routing.schemas import (
    ChangeRead,
    FleetRoutingRead,
    NodeRoutingRead,
    OriginList,
    OriginRead,
    PrefixList,
    PrefixRead,
    PrefixSummary,
    RouteList,
    RouteQuery,
)
from shared.protocol.reports import PrefixAcknowledged, PrefixReport
from shared.web.routing import Router

router = Router(prefix="/api/v1/routing", tags=["routing"])
nodes = Router(prefix="/api/v1/nodes/{node_id}", tags=["routing"])
agents = Router(prefix="/api/v1/agent/reports", tags=["agent"])
metrics = Router(include_in_schema=False)

PrefixText = Annotated[str, Query(min_length=1, max_length=64, description="A prefix or an address")]
Asn = Annotated[int, Path(ge=0, lt=2**32)]


@router.get("")
async def get_fleet_routing(_reader: Reader, routing: Routing) -> FleetRoutingRead:
    """The fleet's tables in numbers; a prefix that ten nodes have is one prefix."""
    return await routing.fleet()


@router.get("/prefix")
async def get_prefix(_reader: Reader, routing: Routing, prefix: PrefixText) -> PrefixRead:
    """One prefix on every node, what it lies in, what lies in it, and what became of it."""
    return await routing.prefix(prefix)


@router.get("/match")
async def find_longest_match(_reader: Reader, routing: Routing, address: PrefixText) -> PrefixSummary | None:
    """The longest prefix that an address lies in; null where no node has one."""
    return await routing.matching(address)


@router.get("/covering")
async def list_covering(_reader: Reader, routing: Routing, prefix: PrefixText) -> PrefixList:
    """Every prefix that a prefix or an address lies in, the longest first."""
    return await routing.covering(prefix)


@router.get("/within")
async def list_within(_reader: Reader, routing: Routing, prefix: PrefixText) -> PrefixList:
    """Prefixes that lie in a prefix."""
    return await routing.within(prefix)


@router.get("/invalid")
async def list_invalid(_reader: Reader, routing: Routing) -> PrefixList:
    """Prefixes whose best route is invalid by its origin (RFC 6811) on some node."""
    return await routing.invalid()


@router.get("/origins")
async def list_origins(_reader: Reader, routing: Routing) -> OriginList:
    """Autonomous systems that originate prefixes, those of most prefixes first."""
    return await routing.origins()


@router.get("/origins/{asn}")
async def get_origin(_reader: Reader, asn: Asn, routing: Routing) -> OriginRead:
    """One autonomous system: its prefixes, and its routes that filters refused."""
    return await routing.origin(asn)


@nodes.get("/routing")
async def get_node_routing(_reader: Reader, node_id: NodeId, desk: Desk) -> NodeRoutingRead:
    """The tables of one node in numbers, and what each protocol brings."""
    found = await desk.routing.node(node_id)
    await desk.nodes.get(node_id)
    return found


@nodes.get("/routes")
async def list_routes(
    _reader: Reader, node_id: NodeId, desk: Desk, query: Annotated[RouteQuery, Query()]
) -> RouteList:
    """Routes of one node in the order of their addresses."""
    found = await desk.routing.table(node_id, query)
    await desk.nodes.get(node_id)
    return found


@nodes.get("/route-changes")
async def list_route_changes(
    _reader: Reader, node_id: NodeId, desk: Desk, limit: Annotated[int, Query(ge=1, le=500)] = 100
) -> list[ChangeRead]:
    """What became of best paths on one node, the newest first."""
    found = await desk.routing.recent(node_id, limit)
    await desk.nodes.get(node_id)
    return found


@agents.post("/prefixes")
async def report_prefixes(node_id: AgentNode, report: PrefixReport, tables: Tables) -> PrefixAcknowledged:
    """Routes of a node; the same report that goes over the socket, and the same answer."""
    return await tables.take(node_id, report)


@metrics.get("/metrics/fleet")
async def read_fleet_metrics(_reader: Reader, exposition: Exposition) -> Response:
    """Nodes and sessions of the inventory in the Prometheus text format."""
    return Response(await exposition.text(), media_type=CONTENT_TYPE_LATEST)
