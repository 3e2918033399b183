"""The dashboard and the stream that tells pages of changes in the fleet."""

from __future__ import annotations

from collections import Counter

from fastapi import Request, Response

from control_server.nodes.dependencies import FleetReader, Nodes
from control_server.nodes.rules import matching
from control_server.portal.dependencies import FleetPulseOf, RecentProbes, Tiers, TiersReader
from shared.web.rendering import render
from shared.web.routing import Router
from shared.web.streams import stream_events

router = Router(include_in_schema=False)


@router.get("/")
async def show_dashboard(
    request: Request, _reader: FleetReader, nodes: Nodes, recent: RecentProbes
) -> Response:
    """The fleet on one page."""
    fleet = await nodes.list()
    worst = matching(fleet.items, "", "state")
    return render(
        request,
        "portal/dashboard.html",
        nodes=worst,
        counts=Counter(node.health.state for node in fleet.items),
        issues=[node for node in worst if node.health.state != "ok"],
        probes=recent,
    )


@router.get("/tiers")
async def show_tiers(request: Request, _reader: TiersReader, tiers: Tiers) -> Response:
    """How the two tiers do."""
    return render(request, "portal/tiers.html", tiers=(await tiers.read()).items)


@router.get("/fleet/stream")
async def stream_fleet(request: Request, _reader: FleetReader, pulse: FleetPulseOf) -> Response:
    """An event `changed` whenever the fleet looks different, and `beat` in between."""
    return stream_events(request, pulse.follow())
