"""Tables of routing."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import ForeignKey, Index
from sqlalchemy.orm import Mapped, mapped_column

from control_server.tables import Base


class RoutingState(Base):
    """How far the server is with the tables of a node. One row a node."""

    __tablename__ = "routing_states"

    node_id: Mapped[str] = mapped_column(ForeignKey("nodes.id"), primary_key=True)
    #: The life of the agent whose reports these are, and the last of them that was taken.
    stream: Mapped[str]
    sequence: Mapped[int]
    #: Grows with every report that was taken, over all lives of the agent.
    rounds: Mapped[int]
    #: The round in which the newest telling of the whole began; routes of it carry this number.
    mark: Mapped[int]
    #: Whether that telling is under way.
    synchronising: Mapped[bool]
    #: When the tables were told as a whole for the last time; None: never yet.
    complete_at: Mapped[datetime | None]
    taken_at: Mapped[datetime | None]
    received_at: Mapped[datetime | None]
    daemon_started_at: Mapped[datetime | None]
    sight: Mapped[str]
    reason: Mapped[str]


class RouteRow(Base):
    """One route of one prefix on one node."""

    __tablename__ = "routes"
    __table_args__ = (
        Index("ix_routes_prefix", "prefix"),
        Index("ix_routes_lowest", "lowest"),
        Index("ix_routes_origin", "origin"),
    )

    node_id: Mapped[str] = mapped_column(ForeignKey("nodes.id"), primary_key=True)
    prefix: Mapped[str] = mapped_column(primary_key=True)
    protocol: Mapped[str] = mapped_column(primary_key=True)
    ordinal: Mapped[int] = mapped_column(primary_key=True)
    family: Mapped[int]
    length: Mapped[int]
    #: The family and the first address in hexadecimal: prefixes in the order of their addresses.
    lowest: Mapped[str]
    best: Mapped[bool]
    filtered: Mapped[bool]
    reason: Mapped[int | None]
    origin: Mapped[int | None]
    path: Mapped[str]
    hops: Mapped[int | None]
    validity: Mapped[str]
    next_hop: Mapped[str]
    local_pref: Mapped[int | None]
    since: Mapped[datetime | None]
    mark: Mapped[int]


class RouteChange(Base):
    """What became of the best path of a prefix on a node."""

    __tablename__ = "route_changes"
    __table_args__ = (
        Index("ix_route_changes_prefix_at", "prefix", "at"),
        Index("ix_route_changes_node_id_at", "node_id", "at"),
        Index("ix_route_changes_at", "at"),
    )

    node_id: Mapped[str] = mapped_column(ForeignKey("nodes.id"), primary_key=True)
    round: Mapped[int] = mapped_column(primary_key=True)
    prefix: Mapped[str] = mapped_column(primary_key=True)
    at: Mapped[datetime]
    kind: Mapped[str]
    cause: Mapped[str]
    before_protocol: Mapped[str | None]
    before_path: Mapped[str | None]
    before_origin: Mapped[int | None]
    after_protocol: Mapped[str | None]
    after_path: Mapped[str | None]
    after_origin: Mapped[int | None]
