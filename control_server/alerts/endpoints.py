"""JSON routes of alerts."""

from __future__ import annotations

from typing import Annotated

from fastapi import Query, status

from control_server.alerts.dependencies import AlertAdmin, AlertReader, Alerts
from control_server.alerts.schemas import (
    ChannelCreate,
    ChannelCreated,
    ChannelId,
    ChannelRead,
    DeliveryRead,
    IncidentRead,
    TestStarted,
)
from shared.web.routing import Router

router = Router(prefix="/api/v1/alerts", tags=["alerts"])

Limit = Annotated[int, Query(ge=1, le=500)]


@router.get("/incidents")
async def list_incidents(_reader: AlertReader, alerts: Alerts, limit: Limit = 100) -> list[IncidentRead]:
    """Nodes that are lost, then those that were, the latest first."""
    return await alerts.list_incidents(limit)


@router.get("/deliveries")
async def list_deliveries(_admin: AlertAdmin, alerts: Alerts, limit: Limit = 100) -> list[DeliveryRead]:
    """Notifications and what became of them, the latest first."""
    return await alerts.list_deliveries(limit)


@router.get("/channels")
async def list_channels(_admin: AlertAdmin, alerts: Alerts) -> list[ChannelRead]:
    """Receivers, without their secrets."""
    return await alerts.list_channels()


@router.post("/channels", status_code=status.HTTP_201_CREATED)
async def create_channel(admin: AlertAdmin, wanted: ChannelCreate, alerts: Alerts) -> ChannelCreated:
    """Add a receiver; the secret that signs is shown once."""
    return await alerts.create(admin, wanted)


@router.delete("/channels/{channel_id}", status_code=status.HTTP_204_NO_CONTENT)
async def delete_channel(admin: AlertAdmin, channel_id: ChannelId, alerts: Alerts) -> None:
    """Remove a receiver; what it still waits for is cancelled."""
    await alerts.delete(admin, channel_id)


@router.post("/channels/{channel_id}/test", status_code=status.HTTP_202_ACCEPTED)
async def test_channel(admin: AlertAdmin, channel_id: ChannelId, alerts: Alerts) -> TestStarted:
    """Send a test notification the way that real ones go."""
    return TestStarted(delivery_id=await alerts.test(admin, channel_id))
