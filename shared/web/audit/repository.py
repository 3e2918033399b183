"""SQL of the audit trail."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, or_, select
from sqlalchemy.ext.asyncio import AsyncSession

from shared.web.audit.models import AuditEventColumns
from shared.web.audit.schemas import AuditFilter


@dataclass(frozen=True, slots=True)
class AuditRepository:
    """The trail in one session."""

    session: AsyncSession
    #: The service's own table.
    table: type[AuditEventColumns]

    def add(self, **values: Any) -> None:
        """Append."""
        self.session.add(self.table(**values))

    async def list_before(
        self, wanted: AuditFilter, cursor: int | None, limit: int
    ) -> Sequence[AuditEventColumns]:
        """Newest first, strictly older than the cursor."""
        table = self.table
        query = select(table).order_by(table.id.desc()).limit(limit)
        if cursor is not None:
            query = query.where(table.id < cursor)
        return (await self.session.scalars(query.where(*_conditions(table, wanted)))).all()


def _conditions(table: type[AuditEventColumns], wanted: AuditFilter) -> Iterator[ColumnElement[bool]]:
    if wanted.actor:
        yield or_(table.actor_id == wanted.actor, table.actor_name == wanted.actor)
    if wanted.action:
        yield table.action.startswith(wanted.action, autoescape=True)
    if wanted.object_type:
        yield table.object_type == wanted.object_type
    if wanted.object_id:
        yield table.object_id == wanted.object_id
    if wanted.since:
        yield table.at >= wanted.since
    if wanted.until:
        yield table.at < wanted.until
