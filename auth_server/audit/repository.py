"""SQL of the audit trail."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession

from auth_server.audit.models import AuditEvent
from auth_server.audit.schemas import AuditFilter


@dataclass(frozen=True, slots=True)
class AuditRepository:
    """The trail in one session."""

    session: AsyncSession

    def add(self, event: AuditEvent) -> None:
        """Append."""
        self.session.add(event)

    async def list_before(self, wanted: AuditFilter, cursor: int | None, limit: int) -> Sequence[AuditEvent]:
        """Newest first, strictly older than the cursor."""
        query = select(AuditEvent).order_by(AuditEvent.id.desc()).limit(limit)
        if cursor is not None:
            query = query.where(AuditEvent.id < cursor)
        if wanted.actor:
            query = query.where(AuditEvent.actor_id == wanted.actor)
        if wanted.action:
            query = query.where(AuditEvent.action.startswith(wanted.action, autoescape=True))
        if wanted.object_type:
            query = query.where(AuditEvent.object_type == wanted.object_type)
        if wanted.object_id:
            query = query.where(AuditEvent.object_id == wanted.object_id)
        return (await self.session.scalars(query)).all()
