"""Pages that join features: the dashboard, tabs of a node, the tiers; and the stream of changes."""

from __future__ import annotations

from fastapi import Request, Response

from control_server.nodes.dependencies import AsNamesOf, FleetReader
from control_server.nodes.schemas import NodeId
from control_server.portal import rules
from control_server.portal.dependencies import (
    DashboardOf,
    FleetPulseOf,
    Measures,
    RecentProbes,
    Tabs,
    Tiers,
    TiersReader,
)
from control_server.traffic.schemas import TrafficRange
from shared.web.rendering import render
from shared.web.routing import Router
from shared.web.streams import stream_events

router = Router(include_in_schema=False)

#: Nodes and issues that the dashboard shows; the rest is one step away.
_NODES, _ISSUES = 12, 8
#: Points of a chart that is half a page wide; the pages of traffic draw all.
_POINTS = 120


@router.get("/")
async def show_dashboard(
    request: Request,
    _reader: FleetReader,
    dashboard: DashboardOf,
    recent: RecentProbes,
    range: TrafficRange = TrafficRange.HOURS_24,  # noqa: A002 - the word of the address
) -> Response:
    """The fleet on one page."""
    found = await dashboard.read(range, recent)
    drawn = rules.coarser(found.traffic, _POINTS)
    return render(
        request,
        "portal/dashboard.html",
        fleet=found,
        range=range.value,
        configuration=rules.configuration_of(found.health.nodes),
        worst=rules.worst(found.health, _NODES),
        issues=found.health.issues[:_ISSUES],
        flow=rules.latest(found.traffic.points),
        drawn=drawn,
        times=rules.instants(drawn),
        cells_of=rules.cells_of,
    )


@router.get("/nodes/{node_id}")
async def show_node(
    request: Request, _reader: FleetReader, node_id: NodeId, tabs: Tabs, names: AsNamesOf
) -> Response:
    """One node: how it is, part by part, what runs on it, what differs from what should."""
    found = await tabs.overview(node_id)
    as_name = await names.name_of(found.node.labels.get("asn", ""))
    return render(
        request,
        "portal/node_overview.html",
        node=found.node,
        health=found.health,
        seen=found.seen,
        scores=found.scores,
        as_name=as_name,
    )


@router.get("/nodes/{node_id}/routing")
async def show_node_routing(
    request: Request, _reader: FleetReader, node_id: NodeId, measures: Measures
) -> Response:
    """What the node's tables hold, by neighbour, and what changed lately."""
    return render(request, "portal/node_routing.html", **await measures.of_routing(node_id))


@router.get("/nodes/{node_id}/traffic")
async def show_node_traffic(
    request: Request,
    _reader: FleetReader,
    node_id: NodeId,
    measures: Measures,
    range: TrafficRange = TrafficRange.HOURS_24,  # noqa: A002 - the word of the address
) -> Response:
    """What goes over the node's links."""
    found = await measures.of_traffic(node_id, range)
    total = found["traffic"].series[0] if found["traffic"].series else None
    return render(
        request,
        "portal/node_traffic.html",
        total=total,
        times=rules.instants(total) if total else [],
        flow=rules.latest(total.points) if total else None,
        range=range.value,
        **found,
    )


@router.get("/nodes/{node_id}/events")
async def show_node_events(request: Request, _reader: FleetReader, node_id: NodeId, tabs: Tabs) -> Response:
    """What happened to the node."""
    node, events = await tabs.events(node_id)
    return render(request, "portal/node_events.html", node=node, events=events)


@router.get("/tiers")
async def show_tiers(request: Request, _reader: TiersReader, tiers: Tiers) -> Response:
    """How the two tiers do."""
    return render(request, "portal/tiers.html", tiers=(await tiers.read()).items)


@router.get("/fleet/stream")
async def stream_fleet(request: Request, _reader: FleetReader, pulse: FleetPulseOf) -> Response:
    """`changed` whenever the fleet looks different, `measured` for new measurements, `beat` in between."""
    return stream_events(request, pulse.follow())
