"""Portal routes of what runs on nodes."""

from __future__ import annotations

from fastapi import Request, Response

from control_server.nodes.schemas import NodeId
from control_server.observations.dependencies import Look
from control_server.policy.dependencies import Reader
from shared.web.rendering import render
from shared.web.routing import Router

router = Router(include_in_schema=False)


@router.get("/nodes/{node_id}")
async def show_node(request: Request, _reader: Reader, node_id: NodeId, look: Look) -> Response:
    """One node: how it is, what became of its generation, what differs from it."""
    node = await look.nodes.get(node_id)
    seen = await look.observations.get(node_id)
    as_name = await look.as_name(node.labels.get("asn", ""))
    return render(request, "observations/node.html", node=node, seen=seen, as_name=as_name)
