"""SQL of the audit trail."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from sqlalchemy import ColumnElement, or_, select
from sqlalchemy.ext.asyncio import AsyncSession

from control_server.audit.models import AuditEvent
from control_server.audit.schemas import AuditFilter


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
        return (await self.session.scalars(query.where(*_conditions(wanted)))).all()


def _conditions(wanted: AuditFilter) -> Iterator[ColumnElement[bool]]:
    if wanted.actor:
        yield or_(AuditEvent.actor_id == wanted.actor, AuditEvent.actor_name == wanted.actor)
    if wanted.action:
        yield AuditEvent.action.startswith(wanted.action, autoescape=True)
    if wanted.object_type:
        yield AuditEvent.object_type == wanted.object_type
    if wanted.object_id:
        yield AuditEvent.object_id == wanted.object_id
    if wanted.since:
        yield AuditEvent.at >= wanted.since
    if wanted.until:
        yield AuditEvent.at < wanted.until
