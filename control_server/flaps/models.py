"""Tables of flaps: what happened, rates, mutes, and all scores for when the tier cannot keep them."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import BigInteger, Float, ForeignKey, Index, Integer, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from control_server.tables import Base

#: SQLite counts rows by itself only in a column of exactly this type.
_POSITION = BigInteger().with_variant(Integer(), "sqlite")


class FlapBase(Base):
    """One row a node and kind: who may write, where the scores stand, and what belongs to none of them."""

    __tablename__ = "node_flap_bases"

    node_id: Mapped[str] = mapped_column(ForeignKey("nodes.id"), primary_key=True)
    kind: Mapped[str] = mapped_column(primary_key=True)
    #: Of the newest connection that told something; an older one is not listened to.
    fencing_token: Mapped[int] = mapped_column(default=0)
    #: Reports that were taken in; each is given its number here, once.
    reports: Mapped[int] = mapped_column(default=0)
    #: The last report whose rate was counted.
    counted: Mapped[int] = mapped_column(default=0)
    #: `kv`, or `sql` while the scores stand in the tables below.
    held_in: Mapped[str] = mapped_column(default="kv")
    #: Since when the tables below count, where they began with nothing.
    from_nothing_at: Mapped[datetime | None]
    #: When the last score of the node is forgotten: until then somebody may want to see it.
    active_until: Mapped[datetime | None]
    #: All but the entries, while the scores stand in the tables below.
    document: Mapped[dict[str, Any] | None]


class NodeBgpFlap(Base):
    """A session's score while the tier does not keep it."""

    __tablename__ = "node_bgp_flaps"

    node_id: Mapped[str] = mapped_column(ForeignKey("nodes.id"), primary_key=True)
    session: Mapped[str] = mapped_column(primary_key=True)
    score: Mapped[float] = mapped_column(Float)
    scored_at: Mapped[datetime]
    level: Mapped[str]
    entry: Mapped[list[Any]]


class NodePrefixFlap(Base):
    """A prefix's score while the tier does not keep it."""

    __tablename__ = "node_prefix_flaps"

    node_id: Mapped[str] = mapped_column(ForeignKey("nodes.id"), primary_key=True)
    prefix: Mapped[str] = mapped_column(primary_key=True)
    score: Mapped[float] = mapped_column(Float)
    scored_at: Mapped[datetime]
    level: Mapped[str]
    events: Mapped[int]
    withdrawals: Mapped[int]
    first_at: Mapped[datetime]
    last_at: Mapped[datetime]


class NodePrefixFlapPath(Base):
    """The paths between which a prefix changes, in order, while the tier does not keep them."""

    __tablename__ = "node_prefix_flap_paths"

    node_id: Mapped[str] = mapped_column(ForeignKey("nodes.id"), primary_key=True)
    prefix: Mapped[str] = mapped_column(primary_key=True)
    position: Mapped[int] = mapped_column(primary_key=True)
    path: Mapped[str]


class FlapMute(Base):
    """Somebody knows of it: until it clears, its incident is not counted."""

    __tablename__ = "flap_mutes"

    node_id: Mapped[str] = mapped_column(ForeignKey("nodes.id"), primary_key=True)
    kind: Mapped[str] = mapped_column(primary_key=True)
    subject: Mapped[str] = mapped_column(primary_key=True)
    muted_by: Mapped[str]
    muted_at: Mapped[datetime]


class FlapTransition(Base):
    """Something that happened: a fact, whatever becomes of the scores."""

    __tablename__ = "flap_transitions"
    __table_args__ = (
        UniqueConstraint("node_id", "kind", "subject", "key"),
        Index("ix_flap_transitions_at", "at"),
        Index("ix_flap_transitions_node_id_at", "node_id", "at"),
    )

    id: Mapped[int] = mapped_column(_POSITION, primary_key=True)
    node_id: Mapped[str] = mapped_column(ForeignKey("nodes.id"))
    kind: Mapped[str]
    subject: Mapped[str]
    #: What is found out twice has the same.
    key: Mapped[str]
    event: Mapped[str]
    at: Mapped[datetime]
    weight: Mapped[int]
    before: Mapped[float] = mapped_column(Float)
    after: Mapped[float] = mapped_column(Float)
    level: Mapped[str]
    reason: Mapped[str]
    reason_class: Mapped[str]


class PrefixRate(Base):
    """Prefix updates of five minutes. Rounds without a base are in none of them."""

    __tablename__ = "prefix_update_rates"

    node_id: Mapped[str] = mapped_column(ForeignKey("nodes.id"), primary_key=True)
    at: Mapped[datetime] = mapped_column(primary_key=True)
    seconds: Mapped[float] = mapped_column(Float)
    updates: Mapped[int]
    withdrawals: Mapped[int]
    changes: Mapped[int]
