"""Tables of consents, of questions that are put to people, and of requests that clients pushed."""

from __future__ import annotations

from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import ForeignKey
from sqlalchemy.orm import Mapped, mapped_column

from auth_server.tables import Base


class Consent(Base):
    """What a person lets a client know and do, until it expires or is withdrawn."""

    __tablename__ = "consents"

    account_id: Mapped[UUID] = mapped_column(ForeignKey("accounts.id"), primary_key=True)
    client_id: Mapped[str] = mapped_column(ForeignKey("clients.id"), primary_key=True)
    scopes: Mapped[list[str]]
    granted_at: Mapped[datetime]
    expires_at: Mapped[datetime]


class AuthorizationRequest(Base):
    """A request as it was shown on the consent page; the answer names it and can change nothing of it."""

    __tablename__ = "authorization_requests"

    id: Mapped[UUID] = mapped_column(primary_key=True)
    session_id: Mapped[UUID]
    client_id: Mapped[str] = mapped_column(ForeignKey("clients.id"))
    wanted: Mapped[dict[str, Any]]
    created_at: Mapped[datetime]
    expires_at: Mapped[datetime] = mapped_column(index=True)
    consumed_at: Mapped[datetime | None]


class PushedRequest(Base):
    """A request that a client left here before the person comes (RFC 9126); only the hash of its name."""

    __tablename__ = "pushed_requests"

    digest: Mapped[str] = mapped_column(primary_key=True)
    client_id: Mapped[str] = mapped_column(ForeignKey("clients.id"))
    parameters: Mapped[dict[str, Any]]
    expires_at: Mapped[datetime] = mapped_column(index=True)
    consumed_at: Mapped[datetime | None]
