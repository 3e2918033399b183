"""Table of personal access tokens."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy.orm import Mapped, mapped_column

from control_server.tables import Base


class ApiToken(Base):
    """A token of a person or service: only its hash."""

    __tablename__ = "api_tokens"

    id: Mapped[str] = mapped_column(primary_key=True)
    name: Mapped[str]
    owner_id: Mapped[str] = mapped_column(index=True)
    owner_kind: Mapped[str]
    owner_name: Mapped[str]
    role: Mapped[str]
    scopes: Mapped[list[str]]
    digest: Mapped[str] = mapped_column(unique=True)
    created_at: Mapped[datetime]
    expires_at: Mapped[datetime | None]
    revoked_at: Mapped[datetime | None]
    last_used_at: Mapped[datetime | None]
