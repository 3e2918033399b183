"""Tables of one-time links and portal sessions."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy.orm import Mapped, mapped_column

from control_server.tables import Base


class SessionLink(Base):
    """A link, made on the host itself, that signs its opener in once: only its hash."""

    __tablename__ = "session_links"

    id: Mapped[str] = mapped_column(primary_key=True)
    digest: Mapped[str] = mapped_column(unique=True)
    created_at: Mapped[datetime]
    expires_at: Mapped[datetime]
    consumed_at: Mapped[datetime | None]


class PortalSession(Base):
    """A signed-in browser. The cookie holds the secret, this row its hash."""

    __tablename__ = "portal_sessions"

    id: Mapped[str] = mapped_column(primary_key=True)
    digest: Mapped[str] = mapped_column(unique=True)
    principal_id: Mapped[str] = mapped_column(index=True)
    principal_kind: Mapped[str]
    name: Mapped[str]
    role: Mapped[str]
    #: How the person proved who they are: `link` for a one-time link.
    method: Mapped[str]
    user_agent: Mapped[str]
    from_address: Mapped[str]
    created_at: Mapped[datetime]
    last_used_at: Mapped[datetime]
    expires_at: Mapped[datetime]
    ended_at: Mapped[datetime | None]
