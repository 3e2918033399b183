"""Table of device authorizations."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from sqlalchemy import ForeignKey
from sqlalchemy.orm import Mapped, mapped_column

from auth_server.tables import Base


class DeviceAuthorization(Base):
    """A device that waits for somebody to confirm its code elsewhere; of both codes only the hash."""

    __tablename__ = "device_authorizations"

    id: Mapped[UUID] = mapped_column(primary_key=True)
    client_id: Mapped[str] = mapped_column(ForeignKey("clients.id"))
    digest: Mapped[str] = mapped_column(unique=True)
    user_code_digest: Mapped[str] = mapped_column(unique=True)
    scopes: Mapped[list[str]]
    created_at: Mapped[datetime]
    expires_at: Mapped[datetime] = mapped_column(index=True)
    #: The least number of seconds between two questions; each that comes too early adds five.
    pause_seconds: Mapped[int]
    polled_at: Mapped[datetime | None]
    decided_at: Mapped[datetime | None]
    #: The family that was opened; None where the person refused.
    grant_id: Mapped[UUID | None]
    consumed_at: Mapped[datetime | None]
