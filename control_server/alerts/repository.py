"""SQL of channels, incidents and deliveries."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from sqlalchemy import delete, func, select, update
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.ext.asyncio import AsyncSession

from control_server.agents.models import Agent
from control_server.alerts.models import Incident, NotificationChannel, NotificationDelivery
from control_server.alerts.schemas import DeliveryState, LinkFacts
from control_server.nodes.models import Node


@dataclass(frozen=True, slots=True)
class AlertRepository:
    """Everything of this feature in one session."""

    session: AsyncSession

    async def count_channels(self) -> int:
        """How many there are."""
        return (
            await self.session.scalar(select(func.count()).where(NotificationChannel.deleted_at.is_(None)))
            or 0
        )

    async def list_channels(self) -> Sequence[NotificationChannel]:
        """Channels that are not deleted, by name."""
        query = select(NotificationChannel).where(NotificationChannel.deleted_at.is_(None))
        return (
            await self.session.scalars(query.order_by(NotificationChannel.name, NotificationChannel.id))
        ).all()

    async def find_channel(self, channel_id: str) -> NotificationChannel | None:
        """A channel that is not deleted."""
        query = select(NotificationChannel).where(
            NotificationChannel.id == channel_id, NotificationChannel.deleted_at.is_(None)
        )
        return await self.session.scalar(query)

    def add(self, row: NotificationChannel | NotificationDelivery) -> None:
        """Store a new row."""
        self.session.add(row)

    async def claim_channel_end(self, channel_id: str, at: datetime) -> NotificationChannel | None:
        """Delete the channel once; what it still waits for is cancelled."""
        channel = await self.session.scalar(
            update(NotificationChannel)
            .where(NotificationChannel.id == channel_id, NotificationChannel.deleted_at.is_(None))
            .values(deleted_at=at)
            .returning(NotificationChannel)
        )
        await self.session.execute(
            update(NotificationDelivery)
            .where(
                NotificationDelivery.channel_id == channel_id,
                NotificationDelivery.state.in_((DeliveryState.PENDING, DeliveryState.DEAD)),
            )
            .values(state=DeliveryState.CANCELLED, finished_at=at)
        )
        return channel

    async def list_links(self) -> list[LinkFacts]:
        """Every active node and every node with an open incident."""
        open_incident = (Incident.node_id == Node.id) & Incident.closed_at.is_(None)
        columns = (
            Agent.last_seen_at,
            Agent.connected_at,
            Agent.disconnected_at,
            Incident.id,
            Incident.opened_at,
        )
        query = select(Node.id, Node.site, *columns).outerjoin(Agent, Agent.node_id == Node.id)
        query = query.outerjoin(Incident, open_incident).order_by(Node.id)
        return [LinkFacts(*row) for row in (await self.session.execute(query)).all()]

    async def claim_opening(self, incident: Incident) -> bool:
        """Open an incident unless the node has one that is open."""
        dialect = sqlite if self.session.get_bind().dialect.name == "sqlite" else postgresql
        values = {
            "id": incident.id,
            "node_id": incident.node_id,
            "opened_at": incident.opened_at,
            "last_seen_at": incident.last_seen_at,
        }
        row = dialect.insert(Incident).values(**values).on_conflict_do_nothing()
        return (await self.session.execute(row.returning(Incident.id))).first() is not None

    async def claim_closing(self, incident_id: UUID, at: datetime) -> bool:
        """Close an incident once."""
        closed = await self.session.scalar(
            update(Incident)
            .where(Incident.id == incident_id, Incident.closed_at.is_(None))
            .values(closed_at=at)
            .returning(Incident.id)
        )
        return closed is not None

    async def list_incidents(self, limit: int) -> Sequence[Incident]:
        """The open ones first, then the latest."""
        order = (Incident.closed_at.is_not(None), Incident.opened_at.desc())
        return (await self.session.scalars(select(Incident).order_by(*order).limit(limit))).all()

    async def list_deliveries(self, limit: int) -> list[tuple[NotificationDelivery, str]]:
        """The latest with the names of their channels."""
        query = select(NotificationDelivery, NotificationChannel.name).join(NotificationChannel)
        query = query.order_by(NotificationDelivery.created_at.desc(), NotificationDelivery.id).limit(limit)
        return [(row[0], row[1]) for row in (await self.session.execute(query)).all()]

    async def find_delivery(
        self, delivery_id: UUID
    ) -> tuple[NotificationDelivery, NotificationChannel] | None:
        """A delivery with its channel."""
        query = select(NotificationDelivery, NotificationChannel).join(NotificationChannel)
        row = (await self.session.execute(query.where(NotificationDelivery.id == delivery_id))).first()
        return None if row is None else (row[0], row[1])

    async def list_pending(self, created_before: datetime, limit: int) -> Sequence[UUID]:
        """Deliveries that ought to have a job, the oldest first."""
        query = select(NotificationDelivery.id).where(
            NotificationDelivery.state == DeliveryState.PENDING,
            NotificationDelivery.created_at < created_before,
        )
        return (
            await self.session.scalars(query.order_by(NotificationDelivery.created_at).limit(limit))
        ).all()

    async def claim_delivered(self, delivery_id: UUID, at: datetime) -> bool:
        """Mark it delivered once."""
        values = {"state": DeliveryState.DELIVERED, "finished_at": at, "error": ""}
        return await self._settle(delivery_id, values, (DeliveryState.PENDING, DeliveryState.DEAD))

    async def claim_dead(self, delivery_id: UUID, at: datetime) -> bool:
        """Every attempt failed."""
        values = {"state": DeliveryState.DEAD, "finished_at": at}
        return await self._settle(delivery_id, values, (DeliveryState.PENDING,))

    async def _settle(
        self, delivery_id: UUID, values: dict[str, object], before: tuple[DeliveryState, ...]
    ) -> bool:
        settled = await self.session.scalar(
            update(NotificationDelivery)
            .where(NotificationDelivery.id == delivery_id, NotificationDelivery.state.in_(before))
            .values(**values)
            .returning(NotificationDelivery.id)
        )
        return settled is not None

    async def count_attempt(self, delivery_id: UUID, error: str) -> None:
        """Remember that it was tried, and what came of it."""
        values = {"attempts": NotificationDelivery.attempts + 1, "error": error}
        await self.session.execute(
            update(NotificationDelivery).where(NotificationDelivery.id == delivery_id).values(**values)
        )

    async def remove_before(self, instant: datetime) -> None:
        """Forget settled deliveries, closed incidents and deleted channels that nothing names any more."""
        delivery, channel = NotificationDelivery, NotificationChannel
        settled = delivery.state != DeliveryState.PENDING
        await self.session.execute(delete(delivery).where(settled, delivery.created_at < instant))
        await self.session.execute(delete(Incident).where(Incident.closed_at < instant))
        named = select(delivery.id).where(delivery.channel_id == channel.id).exists()
        await self.session.execute(delete(channel).where(channel.deleted_at < instant, ~named))
