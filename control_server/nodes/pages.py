"""Portal routes of nodes."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import APIRouter, Query, Request, Response

from control_server.nodes.dependencies import AsNamesOf, FleetReader, Nodes
from control_server.nodes.rules import matching
from control_server.nodes.schemas import NodeId
from shared.web.rendering import render

router = APIRouter(include_in_schema=False)

Sorting = Literal["name", "-name", "state", "-state", "seen", "-seen"]


@router.get("/nodes")
async def show_nodes(
    request: Request,
    _reader: FleetReader,
    nodes: Nodes,
    q: Annotated[str, Query(max_length=100)] = "",
    sort: Sorting = "state",
) -> Response:
    """The fleet as a table."""
    fleet = await nodes.list()
    shown = matching(fleet.items, q, sort)
    return render(request, "nodes/nodes.html", nodes=shown, total=fleet.total, q=q, sorting=sort)


@router.get("/nodes/{node_id}")
async def show_node(
    request: Request, _reader: FleetReader, node_id: NodeId, nodes: Nodes, names: AsNamesOf
) -> Response:
    """One node, with the registry's name of the AS that its label `asn` says."""
    node = await nodes.get(node_id)
    as_name = await names.name_of(node.labels.get("asn", ""))
    return render(request, "nodes/node.html", node=node, as_name=as_name)
