"""Table of incidents."""

from __future__ import annotations

from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import Index, text
from sqlalchemy.orm import Mapped, mapped_column

from control_server.tables import Base


class FleetIncident(Base):
    """What was wrong for a while. Of the same thing at most one is open: the database sees to it."""

    __tablename__ = "fleet_incidents"
    __table_args__ = (
        Index(
            "uq_fleet_incidents_open",
            "kind",
            "node_id",
            "subject",
            unique=True,
            sqlite_where=text("closed_at IS NULL"),
            postgresql_where=text("closed_at IS NULL"),
        ),
        Index("ix_fleet_incidents_opened_at", "opened_at"),
        Index("ix_fleet_incidents_node_id", "node_id"),
    )

    id: Mapped[UUID] = mapped_column(primary_key=True)
    kind: Mapped[str]
    #: No foreign key: an incident stays readable when its node is gone.
    node_id: Mapped[str]
    subject: Mapped[str]
    severity: Mapped[str]
    began_at: Mapped[datetime]
    opened_at: Mapped[datetime]
    closed_at: Mapped[datetime | None]
    #: Since when nothing is wrong any more, while that has not lasted long enough to close it.
    clear_since: Mapped[datetime | None]
    #: Its node is in maintenance, or cannot be seen: it waits.
    held: Mapped[bool] = mapped_column(default=False)
    #: Since when it is not counted, because somebody muted its subject.
    muted_at: Mapped[datetime | None]
    details: Mapped[dict[str, Any]]
