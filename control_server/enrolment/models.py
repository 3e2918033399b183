"""Tables of enrolment."""

from __future__ import annotations

from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy.orm import Mapped, mapped_column

from control_server.tables import Base


class EnrolmentToken(Base):
    """A one-shot token: only its hash. Bound to a node, or to the approval queue."""

    __tablename__ = "enrolment_tokens"

    id: Mapped[str] = mapped_column(primary_key=True)
    digest: Mapped[str] = mapped_column(unique=True)
    node_id: Mapped[str | None]
    created_by: Mapped[str]
    created_at: Mapped[datetime]
    expires_at: Mapped[datetime]
    consumed_at: Mapped[datetime | None]
    revoked_at: Mapped[datetime | None]


class EnrolmentNonce(Base):
    """A challenge that was handed out and is good once."""

    __tablename__ = "enrolment_challenges"

    challenge: Mapped[str] = mapped_column(primary_key=True)
    expires_at: Mapped[datetime] = mapped_column(index=True)
    consumed_at: Mapped[datetime | None]
    #: Who asked, so that one place cannot use up what is there for all.
    asked_by: Mapped[str] = mapped_column(default="", index=True)


class Registration(Base):
    """An agent that waits for an operator's decision."""

    __tablename__ = "registrations"

    id: Mapped[UUID] = mapped_column(primary_key=True)
    token_id: Mapped[str]
    node_id: Mapped[str]
    public_key: Mapped[str]
    hostname: Mapped[str]
    agent_version: Mapped[str]
    capabilities: Mapped[dict[str, Any]] = mapped_column(default=dict)
    from_address: Mapped[str]
    state: Mapped[str] = mapped_column(index=True)
    created_at: Mapped[datetime]
    decided_at: Mapped[datetime | None]
    decided_by: Mapped[str | None]
