"""Table of the audit trail."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import BigInteger, Integer
from sqlalchemy.orm import Mapped, mapped_column

from auth_server.tables import Base


class AuditEvent(Base):
    """One act. Rows are only ever added: the database itself refuses to change or delete one."""

    __tablename__ = "audit_events"

    #: Counts up in the order of writing, which is also the order of pages.
    id: Mapped[int] = mapped_column(BigInteger().with_variant(Integer(), "sqlite"), primary_key=True)
    at: Mapped[datetime] = mapped_column(index=True)
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
