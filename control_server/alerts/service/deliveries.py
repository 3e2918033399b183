"""From a fact to a receiver: a delivery is a row, its job a working copy that can be made anew."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from uuid import UUID

from control_server.alerts import rules
from control_server.alerts.errors import DeliveryFailed, ReceiverRefused
from control_server.alerts.models import NotificationDelivery
from control_server.alerts.repository import AlertRepository
from control_server.alerts.schemas import DeliveryState, Event
from control_server.alerts.service.webhooks import Webhooks
from control_server.durable import NOTIFICATIONS, Durable
from shared.database import Database
from shared.durable import JobState, QueuedJob
from shared.kernel.clock import Clock
from shared.kernel.ids import new_uuid

KIND = "notification.deliver"
#: A job that was enqueued after its transaction has had so long to appear.
_SETTLED = timedelta(seconds=20)
_AT_ONCE = 500


def job_of(delivery_id: UUID) -> QueuedJob:
    """The job of a delivery; its id makes a second enqueuing harmless."""
    return QueuedJob(str(delivery_id), KIND, {"delivery": str(delivery_id)})


@dataclass(frozen=True, slots=True)
class Outbox:
    """Writes deliveries and their jobs inside a caller's transaction."""

    alerts: AlertRepository
    durable: Durable
    now: Clock

    async def tell(self, channel_id: str, event: Event, facts: dict[str, Any], incident: UUID | None) -> UUID:
        """Tell this channel of the event."""
        ident, at = new_uuid(), self.now()
        self.alerts.add(
            NotificationDelivery(
                id=ident,
                channel_id=channel_id,
                incident_id=incident,
                event=event,
                body=rules.body_of(ident, event, at, facts),
                state=DeliveryState.PENDING,
                attempts=0,
                created_at=at,
                finished_at=None,
                error="",
            )
        )
        await self.durable.enqueue_within(self.alerts.session, NOTIFICATIONS, job_of(ident))
        return ident

    async def tell_all(self, event: Event, facts: dict[str, Any], incident: UUID) -> None:
        """Tell every channel."""
        for channel in await self.alerts.list_channels():
            await self.tell(channel.id, event, facts, incident)


@dataclass(frozen=True, slots=True)
class Deliveries:
    """What workers do with deliveries."""

    database: Database
    durable: Durable
    webhooks: Webhooks
    now: Clock

    async def deliver(self, job: QueuedJob) -> None:
        """Try once. Raises DeliveryFailed or ReceiverRefused, after which the queue tries again."""
        ident = UUID(str(job.payload["delivery"]))
        async with self.database.reading() as session:
            found = await AlertRepository(session).find_delivery(ident)
        if found is None or found[0].state in {DeliveryState.DELIVERED, DeliveryState.CANCELLED}:
            return
        delivery, channel = found
        try:
            await self.webhooks.send(channel.url, channel.secret, ident, delivery.body)
        except (DeliveryFailed, ReceiverRefused) as refusal:
            async with self.database.transaction() as session:
                await AlertRepository(session).count_attempt(ident, refusal.detail)
            raise
        async with self.database.transaction() as session:
            alerts = AlertRepository(session)
            await alerts.count_attempt(ident, "")
            await alerts.claim_delivered(ident, self.now())

    async def died(self, job: QueuedJob, _error: str) -> None:
        """The job has used up its attempts."""
        await self._bury(UUID(str(job.payload["delivery"])))

    async def reconcile(self) -> None:
        """Give every pending delivery its job back, such as after the store of jobs was emptied."""
        async with self.database.reading() as session:
            pending = await AlertRepository(session).list_pending(self.now() - _SETTLED, _AT_ONCE)
        queue = self.durable.queues[NOTIFICATIONS]
        for ident in pending:
            state = await queue.state(str(ident))
            if state is None:
                await self._restore(ident)
            elif state is JobState.DEAD:
                await self._bury(ident)

    async def _restore(self, ident: UUID) -> None:
        """Enqueue unless it has been settled since: a job that has just ended is in no place any more."""
        async with self.database.reading() as session:
            found = await AlertRepository(session).find_delivery(ident)
        if found is not None and found[0].state == DeliveryState.PENDING:
            await self.durable.queues[NOTIFICATIONS].enqueue(job_of(ident))

    async def _bury(self, ident: UUID) -> None:
        async with self.database.transaction() as session:
            await AlertRepository(session).claim_dead(ident, self.now())

    async def forget(self, _job: QueuedJob) -> None:
        """Retention of incidents and deliveries."""
        async with self.database.transaction() as session:
            await AlertRepository(session).remove_before(self.now() - self.webhooks.settings.keep)
