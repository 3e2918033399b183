"""JSON routes of incidents."""

from __future__ import annotations

from typing import Annotated, Literal
from uuid import UUID

from fastapi import Query

from control_server.incidents.dependencies import IncidentReader, Incidents
from control_server.incidents.schemas import IncidentList, IncidentRead
from control_server.nodes.schemas import NodeId
from shared.web.routing import Router

router = Router(prefix="/api/v1/incidents", tags=["incidents"])

Limit = Annotated[int, Query(ge=1, le=500)]


@router.get("")
async def list_fleet_incidents(
    _reader: IncidentReader,
    incidents: Incidents,
    state: Annotated[Literal["open", "all"], Query(description="`open`: only those that are open")] = "all",
    node_id: Annotated[NodeId | None, Query(description="Only of this node")] = None,
    limit: Limit = 100,
) -> IncidentList:
    """What is wrong, then what was, the latest first."""
    return await incidents.list(open_only=state == "open", node_id=node_id, limit=limit)


@router.get("/{incident_id}")
async def get_incident(_reader: IncidentReader, incident_id: UUID, incidents: Incidents) -> IncidentRead:
    """One incident, by the id that it has from its opening on."""
    return await incidents.get(incident_id)
