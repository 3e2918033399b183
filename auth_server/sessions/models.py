"""Table of sign-in sessions."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from sqlalchemy import ForeignKey
from sqlalchemy.orm import Mapped, mapped_column

from auth_server.tables import Base


class BrowserSession(Base):
    """A signed-in browser. The cookie holds the secret, this row its hash; `id` is the OpenID `sid`."""

    __tablename__ = "sessions"

    id: Mapped[UUID] = mapped_column(primary_key=True)
    #: Replaced at every sign-in and step-up, so a planted or copied cookie dies then.
    digest: Mapped[str] = mapped_column(unique=True)
    account_id: Mapped[UUID] = mapped_column(ForeignKey("accounts.id"), index=True)
    #: When the person really proved who they are (OpenID Connect `auth_time`).
    auth_time: Mapped[datetime]
    #: How (RFC 8176), such as `["pop", "user"]`.
    amr: Mapped[list[str]]
    stepped_up_at: Mapped[datetime | None]
    device: Mapped[str]
    user_agent: Mapped[str]
    from_address: Mapped[str]
    created_at: Mapped[datetime]
    last_used_at: Mapped[datetime]
    expires_at: Mapped[datetime] = mapped_column(index=True)
    ended_at: Mapped[datetime | None]
    end_reason: Mapped[str | None]
