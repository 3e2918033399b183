"""Watches who speaks. An incident opens and closes once, together with what is told of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

import structlog

from control_server.alerts import rules
from control_server.alerts.models import Incident
from control_server.alerts.repository import AlertRepository
from control_server.alerts.schemas import Event, LinkFacts, Verdict
from control_server.alerts.service.deliveries import Outbox
from control_server.durable import Durable
from control_server.settings import AlertSettings
from shared.database import Database
from shared.kernel.clock import Clock
from shared.kernel.ids import new_uuid

log = structlog.get_logger(__name__)


@dataclass(slots=True)
class IncidentWatch:
    """Any number of processes may watch: the database lets one of them open and one close."""

    database: Database
    durable: Durable
    settings: AlertSettings
    fleet: str
    now: Clock
    #: Silence before the first look is nobody's fault.
    since: datetime | None = field(default=None)

    async def look(self) -> None:
        """Judge every node."""
        now = self.now()
        self.since = self.since or now
        after = (self.settings.lost_after, self.settings.back_after)
        async with self.database.reading() as session:
            links = await AlertRepository(session).list_links()
        for link in links:
            verdict = rules.judge(link, now, self.since, after)
            if verdict is Verdict.LOST:
                await self._open(link, now)
            elif verdict is not Verdict.NOTHING and link.incident_id is not None:
                await self._close(link, link.incident_id, now, told=verdict is Verdict.BACK)

    async def _open(self, link: LinkFacts, now: datetime) -> None:
        incident = Incident(
            id=new_uuid(), node_id=link.node_id, opened_at=now, last_seen_at=link.last_seen_at or now
        )
        async with self.database.transaction() as session:
            alerts = AlertRepository(session)
            if not await alerts.claim_opening(incident):
                return
            facts = self._facts(link, incident.id, now, closed_at=None)
            await Outbox(alerts, self.durable, self.now).tell_all(Event.NODE_LOST, facts, incident.id)
        log.warning("node.lost", node=link.node_id, incident=str(incident.id))

    async def _close(self, link: LinkFacts, incident_id: UUID, now: datetime, *, told: bool) -> None:
        async with self.database.transaction() as session:
            alerts = AlertRepository(session)
            if not await alerts.claim_closing(incident_id, now):
                return
            if told:
                facts = self._facts(link, incident_id, link.opened_at or now, closed_at=now)
                await Outbox(alerts, self.durable, self.now).tell_all(Event.NODE_BACK, facts, incident_id)
        log.info("node.back", node=link.node_id, incident=str(incident_id))

    def _facts(
        self, link: LinkFacts, incident_id: UUID, opened_at: datetime, *, closed_at: datetime | None
    ) -> dict[str, Any]:
        return {
            "fleet": self.fleet,
            "incident": {
                "id": str(incident_id),
                "opened_at": opened_at.isoformat(),
                "closed_at": closed_at.isoformat() if closed_at else None,
            },
            "node": {
                "id": link.node_id,
                "site": link.site,
                "last_seen_at": link.last_seen_at.isoformat() if link.last_seen_at else None,
            },
        }
