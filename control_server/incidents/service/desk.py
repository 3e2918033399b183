"""Incidents for people: those of scores and health, and nodes that were lost."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from control_server.alerts.schemas import IncidentRead as LostNode
from control_server.alerts.service import AlertDesk
from control_server.incidents.errors import IncidentUnknown
from control_server.incidents.repository import IncidentRepository
from control_server.incidents.schemas import IncidentKind, IncidentList, IncidentRead, Severity, Wanted

#: Lost nodes that are asked for beside the rest; there are at most as many open ones as there are nodes.
_LOST = 500


@dataclass(frozen=True, slots=True)
class IncidentDesk:
    """Incidents as one session sees them."""

    incidents: IncidentRepository
    alerts: AlertDesk

    async def list(
        self, state: Wanted = Wanted.ALL, *, node_id: str | None = None, limit: int = 100
    ) -> IncidentList:
        """The open ones first, then the latest."""
        rows = await self.incidents.list_latest(state=state, node_id=node_id, limit=limit)
        lost = [
            _of_lost(row)
            for row in await self.alerts.list_incidents(_LOST)
            if (node_id is None or row.node_id == node_id) and (state is Wanted.ALL or not row.closed_at)
        ]
        items = sorted([*(IncidentRead.model_validate(row) for row in rows), *lost], key=_order)
        opened, muted = await self.incidents.count_open()
        counted = opened - muted + sum(row.closed_at is None for row in lost)
        return IncidentList(items=items[:limit], open=counted, muted=muted)

    async def get(self, incident_id: UUID) -> IncidentRead:
        """One incident. Raises IncidentUnknown."""
        row = await self.incidents.find(incident_id)
        if row is not None:
            return IncidentRead.model_validate(row)
        lost = [row for row in await self.alerts.list_incidents(_LOST) if row.id == incident_id]
        if not lost:
            raise IncidentUnknown
        return _of_lost(lost[0])


def _of_lost(row: LostNode) -> IncidentRead:
    return IncidentRead(
        id=row.id,
        kind=IncidentKind.NODE_LOST,
        node_id=row.node_id,
        subject="",
        severity=Severity.CRITICAL,
        opened_at=row.opened_at,
        closed_at=row.closed_at,
        began_at=row.last_seen_at,
    )


def _order(row: IncidentRead) -> tuple[bool, float]:
    return row.closed_at is not None, -_seconds(row.opened_at)


def _seconds(instant: datetime) -> float:
    return instant.timestamp()
