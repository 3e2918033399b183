"""The newest report of each kind, by node."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import ForeignKey
from sqlalchemy.orm import Mapped, mapped_column

from control_server.tables import Base


class NodeReport(Base):
    """One row a node. A report that was not made yet is None, which is not the same as an empty one."""

    __tablename__ = "node_reports"

    node_id: Mapped[str] = mapped_column(ForeignKey("nodes.id"), primary_key=True)
    apply_result: Mapped[dict[str, Any] | None]
    applied_at: Mapped[datetime | None]
    drift: Mapped[dict[str, Any] | None]
    drift_at: Mapped[datetime | None]
    snapshot: Mapped[dict[str, Any] | None]
    snapshot_at: Mapped[datetime | None]
    #: The newest generation that was proven to run, and its configuration.
    applied_generation: Mapped[int | None]
