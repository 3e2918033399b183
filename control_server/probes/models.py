"""Tables of probes."""

from __future__ import annotations

from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import ForeignKey, Index
from sqlalchemy.orm import Mapped, mapped_column

from control_server.tables import Base


class Probe(Base):
    """One request to run a tool on one or more nodes."""

    __tablename__ = "probes"
    __table_args__ = (Index("ix_probes_created_at_id", "created_at", "id"),)

    id: Mapped[UUID] = mapped_column(primary_key=True)
    #: Names one numbering of the lines; a new one is minted when lines may have been lost.
    epoch: Mapped[str]
    state: Mapped[str] = mapped_column(index=True)
    reason: Mapped[str | None]
    tool: Mapped[str]
    target: Mapped[str] = mapped_column(index=True)
    options: Mapped[dict[str, Any]] = mapped_column(default=dict)
    limits: Mapped[dict[str, Any]] = mapped_column(default=dict)
    actor_kind: Mapped[str]
    actor_id: Mapped[str] = mapped_column(index=True)
    actor_name: Mapped[str]
    created_at: Mapped[datetime]
    started_at: Mapped[datetime | None]
    cancelled_at: Mapped[datetime | None]
    finished_at: Mapped[datetime | None]
    #: Every line up to this number is in `probe_lines`.
    archived_seq: Mapped[int] = mapped_column(default=0)


class ProbeNode(Base):
    """The share of one node in a probe."""

    __tablename__ = "probe_nodes"
    __table_args__ = (Index("ix_probe_nodes_node_id_state", "node_id", "state"),)

    probe_id: Mapped[UUID] = mapped_column(ForeignKey("probes.id"), primary_key=True)
    #: No foreign key: a probe stays readable when its node is gone.
    node_id: Mapped[str] = mapped_column(primary_key=True)
    state: Mapped[str]
    reason: Mapped[str | None]
    detail: Mapped[str] = mapped_column(default="")
    #: The policy for targets that was sent to the agent.
    targets: Mapped[dict[str, Any]] = mapped_column(default=dict)
    command: Mapped[str] = mapped_column(default="")
    address: Mapped[str] = mapped_column(default="")
    exit_code: Mapped[int | None]
    summary: Mapped[dict[str, Any] | None]
    accepted_lines: Mapped[int] = mapped_column(default=0)
    archived_lines: Mapped[int] = mapped_column(default=0)
    truncated: Mapped[bool] = mapped_column(default=False)
    started_at: Mapped[datetime | None]
    finished_at: Mapped[datetime | None]


class ProbeLine(Base):
    """One archived line."""

    __tablename__ = "probe_lines"

    probe_id: Mapped[UUID] = mapped_column(ForeignKey("probes.id"), primary_key=True)
    seq: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    node_id: Mapped[str]
    stream: Mapped[str]
    text: Mapped[str]
