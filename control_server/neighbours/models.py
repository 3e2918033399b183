"""Table of what the registry said that filters are made of."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy.orm import Mapped, mapped_column

from control_server.tables import Base


class LearnedRoutes(Base):
    """Route objects of one source, `AS<number>` or an as-set; the last answer stays when none comes."""

    __tablename__ = "learned_routes"

    source: Mapped[str] = mapped_column(primary_key=True)
    #: `RouteObject`s in order; None before the first answer.
    routes: Mapped[list[Any] | None]
    asked_at: Mapped[datetime]
    answered_at: Mapped[datetime | None]
    problem: Mapped[str] = mapped_column(default="")
