"""Tables of peerings and links."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import ForeignKey, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from control_server.tables import Base


class PeeringRow(Base):
    """A relation of one node with a network of somebody else."""

    __tablename__ = "peerings"
    __table_args__ = (UniqueConstraint("node_id", "name"), {"info": {"outlives_node": True}})

    id: Mapped[str] = mapped_column(primary_key=True)
    node_id: Mapped[str] = mapped_column(ForeignKey("nodes.id"), index=True)
    name: Mapped[str]
    asn: Mapped[int] = mapped_column(index=True)
    description: Mapped[str] = mapped_column(default="")
    enabled: Mapped[bool] = mapped_column(default=True)
    #: A `PeeringDocument`; secrets in it are sealed to the node.
    document: Mapped[dict[str, Any]]
    version: Mapped[int] = mapped_column(default=1)
    created_at: Mapped[datetime]
    updated_at: Mapped[datetime]


class LinkRow(Base):
    """A link between two nodes of ours, once for both: `node_a` is the first by name."""

    __tablename__ = "node_links"
    __table_args__ = (UniqueConstraint("node_a", "node_b"), {"info": {"outlives_node": True}})

    id: Mapped[str] = mapped_column(primary_key=True)
    node_a: Mapped[str] = mapped_column(ForeignKey("nodes.id"), index=True)
    node_b: Mapped[str] = mapped_column(ForeignKey("nodes.id"), index=True)
    enabled: Mapped[bool] = mapped_column(default=True)
    #: A `LinkDocument`.
    document: Mapped[dict[str, Any]]
    version: Mapped[int] = mapped_column(default=1)
    created_at: Mapped[datetime]
    updated_at: Mapped[datetime]
