"""The one row of facts that belong to no node."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy.orm import Mapped, mapped_column

from control_server.tables import Base


class FleetPolicy(Base):
    """Row 1 is the fleet's; before it is written once, the schema's own values count."""

    __tablename__ = "fleet_policy"

    id: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    document: Mapped[dict[str, Any]]
    version: Mapped[int] = mapped_column(default=1)
    updated_at: Mapped[datetime]
    updated_by: Mapped[str] = mapped_column(default="")
