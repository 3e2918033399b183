"""Tables of pools and of what was given out."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import ForeignKey, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from control_server.tables import Base


class Pool(Base):
    """A range of values of one kind."""

    __tablename__ = "ipam_pools"

    name: Mapped[str] = mapped_column(primary_key=True)
    kind: Mapped[str]
    #: A network in prefix notation, or two numbers joined by a hyphen.
    range: Mapped[str]
    version: Mapped[int] = mapped_column(default=1)
    created_at: Mapped[datetime]


class Allocation(Base):
    """One value that is given out. What may repeat on another node has that node as its scope."""

    __tablename__ = "ipam_allocations"
    __table_args__ = (UniqueConstraint("kind", "scope", "value"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    kind: Mapped[str]
    scope: Mapped[str] = mapped_column(default="")
    value: Mapped[str]
    #: Type and id of the fact that has it.
    holder: Mapped[str] = mapped_column(index=True)
    pool: Mapped[str | None] = mapped_column(ForeignKey("ipam_pools.name"), index=True)
    created_at: Mapped[datetime]
