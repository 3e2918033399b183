"""Tables of agents and their tokens."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import ForeignKey
from sqlalchemy.orm import Mapped, mapped_column

from control_server.tables import Base


class Agent(Base):
    """The one agent of a node, known by its identity key."""

    __tablename__ = "agents"

    node_id: Mapped[str] = mapped_column(ForeignKey("nodes.id"), primary_key=True)
    public_key: Mapped[str] = mapped_column(unique=True)
    agent_version: Mapped[str] = mapped_column(default="")
    boot_id: Mapped[str] = mapped_column(default="")
    hostname: Mapped[str] = mapped_column(default="")
    capabilities: Mapped[dict[str, Any]] = mapped_column(default=dict)
    #: Public halves of the node's keys, as its agent told them last.
    keys: Mapped[dict[str, Any] | None]
    enrolled_at: Mapped[datetime]
    #: Grows with every accepted socket; an older socket can no longer change anything.
    fencing_token: Mapped[int] = mapped_column(default=0)
    connected_at: Mapped[datetime | None]
    disconnected_at: Mapped[datetime | None]
    #: The last message, not the last connect; written in batches once a minute.
    last_seen_at: Mapped[datetime | None]


class AgentToken(Base):
    """A bearer token of an agent: only its hash. Issuing a new one revokes the old."""

    __tablename__ = "agent_tokens"

    id: Mapped[str] = mapped_column(primary_key=True)
    node_id: Mapped[str] = mapped_column(ForeignKey("nodes.id"), index=True)
    digest: Mapped[str] = mapped_column(unique=True)
    created_at: Mapped[datetime]
    revoked_at: Mapped[datetime | None]
