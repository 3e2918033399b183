"""Wiring of alerts."""

from __future__ import annotations

from typing import Annotated

from fastapi import Depends, Request

from control_server.alerts.repository import AlertRepository
from control_server.alerts.service import AlertDesk, Deliveries, IncidentWatch, Outbox, Webhooks
from control_server.audit.dependencies import AuditTrail
from control_server.resources import ControlResources
from shared.kernel.principal import Principal, Scope
from shared.web.principals import Require
from shared.web.transactions import Session


async def _desk(request: Request, session: Session, audit: AuditTrail) -> AlertDesk:
    resources: ControlResources = request.app.state.resources
    alerts = AlertRepository(session)
    outbox = Outbox(alerts, resources.durable, resources.now)
    return AlertDesk(alerts, outbox, audit, resources.settings, resources.now)


def webhooks_of(resources: ControlResources) -> Webhooks:
    """What sends, by this process's settings."""
    return Webhooks(resources.settings.alerts, resources.now)


def deliveries_of(resources: ControlResources) -> Deliveries:
    """What workers do with deliveries."""
    return Deliveries(resources.database, resources.durable, webhooks_of(resources), resources.now)


def watch_of(resources: ControlResources) -> IncidentWatch:
    """The watch of this process."""
    settings = resources.settings
    return IncidentWatch(
        resources.database, resources.durable, settings.alerts, settings.fleet_name, resources.now
    )


Alerts = Annotated[AlertDesk, Depends(_desk)]
AlertReader = Annotated[Principal, Depends(Require(Scope.FLEET_READ))]
AlertAdmin = Annotated[Principal, Depends(Require(Scope.ACCESS_ADMIN))]
