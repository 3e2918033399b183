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
    created_at: Mapped[datetime]
    updated_at: Mapped[datetime]
