"""Tables of channels, incidents and deliveries."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from sqlalchemy import ForeignKey, Index, text
from sqlalchemy.orm import Mapped, mapped_column

from control_server.tables import Base


class NotificationChannel(Base):
    """A receiver of notifications: an address that takes signed HTTP requests."""

    __tablename__ = "notification_channels"

    id: Mapped[str] = mapped_column(primary_key=True)
    name: Mapped[str]
    url: Mapped[str]
    #: Signing needs the secret itself. Whoever reads it here can forge notifications, and nothing else.
    secret: Mapped[str]
    created_at: Mapped[datetime]
    created_by: Mapped[str]
    deleted_at: Mapped[datetime | None]


class Incident(Base):
    """A node that is, or was, lost. A node has at most one that is open: the database sees to it."""

    __tablename__ = "incidents"
    __table_args__ = (
        Index(
            "uq_incidents_open",
            "node_id",
            unique=True,
            sqlite_where=text("closed_at IS NULL"),
            postgresql_where=text("closed_at IS NULL"),
        ),
        Index("ix_incidents_opened_at", "opened_at"),
    )

    id: Mapped[UUID] = mapped_column(primary_key=True)
    #: No foreign key: an incident stays readable when its node is gone.
    node_id: Mapped[str]
    opened_at: Mapped[datetime]
    closed_at: Mapped[datetime | None]
    #: When the node was last heard before it was lost.
    last_seen_at: Mapped[datetime]


class NotificationDelivery(Base):
    """One notification to one channel: the fact from which its job is made."""

    __tablename__ = "notification_deliveries"
    __table_args__ = (Index("ix_notification_deliveries_state", "state", "created_at"),)

    #: Also the receiver's idempotency key and the id of the job.
    id: Mapped[UUID] = mapped_column(primary_key=True)
    channel_id: Mapped[str] = mapped_column(ForeignKey("notification_channels.id"))
    incident_id: Mapped[UUID | None] = mapped_column(index=True)
    event: Mapped[str]
    #: The body, byte for byte the same at every attempt.
    body: Mapped[str]
    state: Mapped[str]
    attempts: Mapped[int] = mapped_column(default=0)
    created_at: Mapped[datetime]
    finished_at: Mapped[datetime | None]
    error: Mapped[str] = mapped_column(default="")
