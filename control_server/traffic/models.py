"""Tables of traffic."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import ForeignKey, Index
from sqlalchemy.orm import Mapped, mapped_column

from control_server.tables import Base


class LastSample(Base):
    """The newest sample of a node: the next one is compared with it. An empty one stands for none yet."""

    __tablename__ = "node_traffic_last_sample"

    node_id: Mapped[str] = mapped_column(ForeignKey("nodes.id"), primary_key=True)
    stream: Mapped[str]
    sequence: Mapped[int]
    received_at: Mapped[datetime]
    #: The sample as the agent sent it.
    sample: Mapped[dict[str, Any]]


class TrafficBucket(Base):
    """What went over one link within one step of an archive, as far as it was measured."""

    __tablename__ = "traffic_archive"
    __table_args__ = (
        Index("ix_traffic_archive_step_at", "step", "at"),
        Index("ix_traffic_archive_interface_step_at", "interface", "step", "at"),
    )

    node_id: Mapped[str] = mapped_column(ForeignKey("nodes.id"), primary_key=True)
    #: Seconds: 300 or 3600.
    step: Mapped[int] = mapped_column(primary_key=True)
    at: Mapped[datetime] = mapped_column(primary_key=True)
    #: `*` is all links of the node together.
    interface: Mapped[str] = mapped_column(primary_key=True)
    #: Empty: the whole interface.
    peer: Mapped[str] = mapped_column(primary_key=True)
    kind: Mapped[str]
    seconds: Mapped[float]
    received_bytes: Mapped[int]
    sent_bytes: Mapped[int]
    received_packets: Mapped[int | None]
    sent_packets: Mapped[int | None]
    received_peak: Mapped[float]
    sent_peak: Mapped[float]


class FleetBucket(Base):
    """What all nodes together moved within one step of an archive."""

    __tablename__ = "traffic_fleet"

    step: Mapped[int] = mapped_column(primary_key=True)
    at: Mapped[datetime] = mapped_column(primary_key=True)
    received_bytes: Mapped[int]
    sent_bytes: Mapped[int]
