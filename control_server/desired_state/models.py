"""Generations: what was published for each node, by whom and why, with the facts that it came from."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import ForeignKey
from sqlalchemy.orm import Mapped, mapped_column

from control_server.tables import Base


class Generation(Base):
    """One desired state of one node. It is never changed."""

    __tablename__ = "generations"

    node_id: Mapped[str] = mapped_column(ForeignKey("nodes.id"), primary_key=True)
    number: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    sha256: Mapped[str]
    #: A `DesiredState`; secrets in it are sealed to the node.
    state: Mapped[dict[str, Any]]
    #: The node's own facts at that time, to which a rollback goes back.
    facts: Mapped[dict[str, Any]]
    #: How it differs from the one before.
    changes: Mapped[list[Any]]
    reason: Mapped[str]
    actor_kind: Mapped[str]
    actor_name: Mapped[str]
    created_at: Mapped[datetime]
