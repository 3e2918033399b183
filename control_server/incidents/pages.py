"""Portal routes of incidents."""

from __future__ import annotations

from typing import Annotated

from fastapi import Query, Request, Response

from control_server.incidents.dependencies import IncidentReader, Incidents
from control_server.nodes.schemas import NodeId
from shared.web.rendering import render
from shared.web.routing import Router

router = Router(include_in_schema=False)

_SHOWN = 200


@router.get("/incidents")
async def show_incidents(
    request: Request,
    _reader: IncidentReader,
    incidents: Incidents,
    node: Annotated[NodeId | None, Query()] = None,
) -> Response:
    """What is wrong, and what was."""
    found = await incidents.list(node_id=node, limit=_SHOWN)
    return render(request, "incidents/incidents.html", incidents=found)
