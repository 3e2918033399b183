"""Tables of health: what is judged by, how it stood last, and every change."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import BigInteger, ForeignKey, Index, Integer
from sqlalchemy.orm import Mapped, mapped_column

from control_server.tables import Base

#: SQLite counts rows by itself only in a column of exactly this type.
_POSITION = BigInteger().with_variant(Integer(), "sqlite")


class NodeHealthRow(Base):
    """One row a node: the facts of its last reports, short enough to read those of a fleet at once."""

    __tablename__ = "node_health"

    node_id: Mapped[str] = mapped_column(ForeignKey("nodes.id"), primary_key=True)
    #: What the last reports say, without the list of sessions.
    facts: Mapped[dict[str, Any]]
    #: Every session of the last snapshot; asked for one node at a time.
    sessions: Mapped[list[Any]] = mapped_column(deferred=True)
    #: How it stood when it was looked at last: part to state, since and reasons.
    stood: Mapped[dict[str, Any]]


class HealthTransition(Base):
    """One change of a node or of one of its parts."""

    __tablename__ = "health_transitions"
    __table_args__ = (
        Index("ix_health_transitions_node_id_at", "node_id", "at"),
        Index("ix_health_transitions_at", "at"),
    )

    id: Mapped[int] = mapped_column(_POSITION, primary_key=True)
    node_id: Mapped[str] = mapped_column(ForeignKey("nodes.id"))
    part: Mapped[str]
    before: Mapped[str]
    after: Mapped[str]
    reasons: Mapped[list[Any]]
    at: Mapped[datetime]
