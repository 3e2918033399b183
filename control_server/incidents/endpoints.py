"""JSON routes of incidents."""

from __future__ import annotations

from typing import Annotated
from uuid import UUID

from fastapi import Query

from control_server.incidents.dependencies import IncidentReader, Incidents
from control_server.incidents.schemas import IncidentList, IncidentRead, Wanted
from control_server.nodes.schemas import NodeId
from shared.web.routing import Router

router = Router(prefix="/api/v1/incidents", tags=["incidents"])

Limit = Annotated[int, Query(ge=1, le=500)]


@router.get("")
async def list_fleet_incidents(
    _reader: IncidentReader,
    incidents: Incidents,
    state: Annotated[Wanted, Query(description="`counted`: open ones that nobody muted")] = Wanted.ALL,
    node_id: Annotated[NodeId | None, Query(description="Only of this node")] = None,
    limit: Limit = 100,
) -> IncidentList:
    """What is wrong, then what was, the latest first."""
    return await incidents.list(state, node_id=node_id, limit=limit)


@router.get("/{incident_id}")
async def get_incident(_reader: IncidentReader, incident_id: UUID, incidents: Incidents) -> IncidentRead:
    """One incident, by the id that it has from its opening on."""
    return await incidents.get(incident_id)
