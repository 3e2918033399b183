"""Tables of nodes."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy.orm import Mapped, mapped_column

from control_server.tables import Base


class Node(Base):
    """A router: its id is the operator's own stable name for it."""

    __tablename__ = "nodes"

    id: Mapped[str] = mapped_column(primary_key=True)
    site: Mapped[str] = mapped_column(default="")
    description: Mapped[str] = mapped_column(default="")
    labels: Mapped[dict[str, Any]] = mapped_column(default=dict)
    lifecycle: Mapped[str] = mapped_column(default="active")
    #: Prefixes that probes from this node may aim at although the fleet's policy refuses them.
    allow_targets: Mapped[list[str]] = mapped_column(default=list)
    deny_targets: Mapped[list[str]] = mapped_column(default=list)
    #: What it routes with: a `RoutingFacts` document. Empty: it is only watched and probes.
    routing: Mapped[dict[str, Any]] = mapped_column(default=dict)
    #: Why it is out of service for a while, since when and by whom.
    maintenance: Mapped[dict[str, Any] | None]
    #: Grows with every change of these facts.
    version: Mapped[int] = mapped_column(default=1)
    #: The newest generation that was published for it.
    generation: Mapped[int] = mapped_column(default=0)
    created_at: Mapped[datetime]
    updated_at: Mapped[datetime]
