"""Channels as administrators handle them, and the history that operators read."""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID

from control_server.alerts.errors import ChannelNotFound, TooManyChannels
from control_server.alerts.models import NotificationChannel
from control_server.alerts.repository import AlertRepository
from control_server.alerts.rules import refusal_of_literal
from control_server.alerts.schemas import (
    ChannelCreate,
    ChannelCreated,
    ChannelRead,
    DeliveryRead,
    DeliveryState,
    Event,
    IncidentRead,
)
from control_server.alerts.service.deliveries import Outbox
from control_server.alerts.service.webhooks import receivers_of
from control_server.audit.service import Audit
from control_server.settings import ControlSettings
from shared.kernel.clock import Clock
from shared.kernel.errors import FieldError, InvalidInput
from shared.kernel.ids import short_id
from shared.kernel.principal import Principal
from shared.kernel.secrets import mint

_MOST_CHANNELS = 50


@dataclass(frozen=True, slots=True)
class AlertDesk:
    """Channels, incidents and deliveries as one session sees them."""

    alerts: AlertRepository
    outbox: Outbox
    audit: Audit
    settings: ControlSettings
    now: Clock

    async def list_channels(self) -> list[ChannelRead]:
        """Every channel."""
        return [ChannelRead.model_validate(row) for row in await self.alerts.list_channels()]

    async def create(self, actor: Principal, wanted: ChannelCreate) -> ChannelCreated:
        """Add a channel; its secret is shown once. Raises TooManyChannels, InvalidInput."""
        reason = refusal_of_literal(wanted.url, receivers_of(self.settings.alerts))
        if reason is not None:
            refused = FieldError("url", "receiver_refused", f"This address may not be called: {reason}.")
            raise InvalidInput(fields=[refused])
        if await self.alerts.count_channels() >= _MOST_CHANNELS:
            raise TooManyChannels(
                f"There are {_MOST_CHANNELS} channels, and no more may be; delete one first."
            )
        channel = NotificationChannel(
            id=short_id(12),
            name=wanted.name,
            url=wanted.url,
            secret=mint("rlw").text,
            created_at=self.now(),
            created_by=actor.name,
            deleted_at=None,
        )
        self.alerts.add(channel)
        self.audit.note(
            actor, "alert_channel.created", ("alert_channel", channel.id), after={"name": wanted.name}
        )
        return ChannelCreated(**ChannelRead.model_validate(channel).model_dump(), secret=channel.secret)

    async def delete(self, actor: Principal, channel_id: str) -> None:
        """Remove a channel; what it still waits for is cancelled. Raises ChannelNotFound."""
        channel = await self.alerts.claim_channel_end(channel_id, self.now())
        if channel is None:
            raise ChannelNotFound
        self.audit.note(
            actor, "alert_channel.deleted", ("alert_channel", channel_id), before={"name": channel.name}
        )

    async def test(self, actor: Principal, channel_id: str) -> UUID:
        """Send a test notification the way that real ones go. Raises ChannelNotFound."""
        channel = await self.alerts.find_channel(channel_id)
        if channel is None:
            raise ChannelNotFound
        self.audit.note(actor, "alert_channel.tested", ("alert_channel", channel_id))
        facts = {"fleet": self.settings.fleet_name, "channel": {"id": channel.id, "name": channel.name}}
        return await self.outbox.tell(channel.id, Event.TEST, facts, None)

    async def list_incidents(self, limit: int) -> list[IncidentRead]:
        """The open ones first, then the latest."""
        return [IncidentRead.model_validate(row) for row in await self.alerts.list_incidents(limit)]

    async def list_deliveries(self, limit: int) -> list[DeliveryRead]:
        """The latest first."""
        return [
            DeliveryRead(
                id=row.id,
                channel_id=row.channel_id,
                channel=name,
                event=Event(row.event),
                incident_id=row.incident_id,
                state=DeliveryState(row.state),
                attempts=row.attempts,
                created_at=row.created_at,
                finished_at=row.finished_at,
                error=row.error,
            )
            for row, name in await self.alerts.list_deliveries(limit)
        ]
