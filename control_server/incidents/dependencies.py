"""Wiring of incidents."""

from __future__ import annotations

from typing import Annotated

from fastapi import Depends

from control_server.alerts.dependencies import Alerts
from control_server.incidents.repository import IncidentRepository
from control_server.incidents.service import IncidentDesk
from control_server.resources import ControlResources
from shared.kernel.principal import Principal, Scope
from shared.web.principals import Require
from shared.web.transactions import Session


async def _desk(session: Session, alerts: Alerts) -> IncidentDesk:
    return IncidentDesk(IncidentRepository(session), alerts)


Incidents = Annotated[IncidentDesk, Depends(_desk)]
IncidentReader = Annotated[Principal, Depends(Require(Scope.FLEET_READ))]


async def incidents_as_text(resources: ControlResources) -> str:
    """A text that differs when the incidents do."""
    async with resources.database.reading() as session:
        return await IncidentRepository(session).newest()
