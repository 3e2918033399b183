"""Table of the audit trail."""

from __future__ import annotations

from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import Index
from sqlalchemy.orm import Mapped, mapped_column

from control_server.tables import Base


class AuditEvent(Base):
    """One act. Rows are only ever added: the database itself refuses to change or delete one."""

    __tablename__ = "audit_events"
    __table_args__ = (Index("ix_audit_events_at_id", "at", "id"),)

    id: Mapped[UUID] = mapped_column(primary_key=True)
    at: Mapped[datetime]
    actor_kind: Mapped[str]
    actor_id: Mapped[str] = mapped_column(index=True)
    actor_name: Mapped[str]
    action: Mapped[str] = mapped_column(index=True)
    object_type: Mapped[str]
    object_id: Mapped[str]
    from_address: Mapped[str] = mapped_column(default="")
    request_id: Mapped[str] = mapped_column(default="")
    before: Mapped[dict[str, Any] | None]
    after: Mapped[dict[str, Any] | None]
