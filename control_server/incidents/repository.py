"""SQL of incidents."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import Integer, cast, delete, func, select, update
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.ext.asyncio import AsyncSession

from control_server.incidents.models import FleetIncident
from control_server.incidents.schemas import Finding, Wanted
from shared.kernel.ids import new_uuid


@dataclass(frozen=True, slots=True)
class IncidentRepository:
    """Incidents in one session."""

    session: AsyncSession

    async def claim_opening(self, finding: Finding, at: datetime) -> UUID | None:
        """Open an incident unless the same thing has one that is open."""
        dialect = sqlite if self.session.get_bind().dialect.name == "sqlite" else postgresql
        values = {
            "id": new_uuid(),
            "kind": finding.kind,
            "node_id": finding.node_id,
            "subject": finding.subject,
            "severity": finding.severity,
            "began_at": finding.since,
            "opened_at": at,
            "details": finding.details,
            "held": False,
        }
        row = dialect.insert(FleetIncident).values(**values).on_conflict_do_nothing()
        found: UUID | None = await self.session.scalar(row.returning(FleetIncident.id))
        return found

    async def claim_closing(self, incident_id: UUID, at: datetime) -> bool:
        """Close an incident once."""
        closed = await self.session.scalar(
            update(FleetIncident)
            .where(FleetIncident.id == incident_id, FleetIncident.closed_at.is_(None))
            .values(closed_at=at, held=False)
            .returning(FleetIncident.id)
        )
        return closed is not None

    async def note(self, incident_id: UUID, **values: Any) -> None:
        """Write down how an open incident stands."""
        await self.session.execute(
            update(FleetIncident)
            .where(FleetIncident.id == incident_id, FleetIncident.closed_at.is_(None))
            .values(**values)
        )

    async def list_open(self, kinds: Collection[str] | None = None) -> Sequence[FleetIncident]:
        """Those that are open, of these kinds."""
        query = select(FleetIncident).where(FleetIncident.closed_at.is_(None))
        if kinds is not None:
            query = query.where(FleetIncident.kind.in_(kinds))
        return (await self.session.scalars(query.order_by(FleetIncident.opened_at))).all()

    async def mute(self, what: tuple[str, str, str], at: datetime | None) -> None:
        """Count the open incident of this kind, node and subject no more, or again."""
        kind, node_id, subject = what
        same = (
            FleetIncident.kind == kind,
            FleetIncident.node_id == node_id,
            FleetIncident.subject == subject,
        )
        await self.session.execute(
            update(FleetIncident).where(*same, FleetIncident.closed_at.is_(None)).values(muted_at=at)
        )

    async def list_latest(self, *, state: Wanted, node_id: str | None, limit: int) -> Sequence[FleetIncident]:
        """The open ones first, then the latest."""
        query = select(FleetIncident)
        if state is not Wanted.ALL:
            query = query.where(FleetIncident.closed_at.is_(None))
        if state is Wanted.COUNTED:
            query = query.where(FleetIncident.muted_at.is_(None))
        if node_id is not None:
            query = query.where(FleetIncident.node_id == node_id)
        order = (FleetIncident.closed_at.is_not(None), FleetIncident.opened_at.desc(), FleetIncident.id)
        return (await self.session.scalars(query.order_by(*order).limit(limit))).all()

    async def count_open(self) -> tuple[int, int]:
        """How many are open, and how many of those are muted."""
        columns = (func.count(FleetIncident.id), func.count(FleetIncident.muted_at))
        row = (await self.session.execute(select(*columns).where(FleetIncident.closed_at.is_(None)))).one()
        return row[0], row[1]

    async def find(self, incident_id: UUID) -> FleetIncident | None:
        """One incident."""
        return await self.session.get(FleetIncident, incident_id)

    async def remove_before(self, before: datetime) -> None:
        """Forget what was closed before an instant."""
        await self.session.execute(delete(FleetIncident).where(FleetIncident.closed_at < before))

    async def newest(self) -> str:
        """A text that differs when an incident was opened, closed or held."""
        columns = (func.count(FleetIncident.id), func.max(FleetIncident.opened_at))
        more = (func.max(FleetIncident.closed_at), func.count(FleetIncident.closed_at))
        held = func.sum(cast(FleetIncident.held, Integer))
        muted = func.count(FleetIncident.muted_at)
        return str((await self.session.execute(select(*columns, *more, held, muted))).one())
