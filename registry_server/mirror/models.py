"""Where the mirror stands, and how it got there."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import CheckConstraint
from sqlalchemy.orm import Mapped, mapped_column

from registry_server.tables import Base


class MirrorState(Base):
    """The one row that says what the index holds; it changes in the same transaction as the index."""

    __tablename__ = "mirror_state"
    __table_args__ = (CheckConstraint("id = 1", name="single"),)

    id: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    #: Number of the applied sync; 0 before the first.
    version: Mapped[int] = mapped_column(default=0)
    #: Number of the last sync of any outcome.
    last_sync: Mapped[int] = mapped_column(default=0)
    commit: Mapped[str | None]
    branch: Mapped[str | None]
    #: How files were read; what another version read is read anew.
    grammar: Mapped[int] = mapped_column(default=0)
    committed_at: Mapped[datetime | None]
    applied_at: Mapped[datetime | None]
    checked_at: Mapped[datetime | None]
    counts: Mapped[dict[str, Any]] = mapped_column(default=dict)


class Sync(Base):
    """One sync that changed something, was held or failed; quiet looks upstream leave no row."""

    __tablename__ = "syncs"

    id: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    outcome: Mapped[str]
    trigger: Mapped[str]
    mode: Mapped[str | None]
    started_at: Mapped[datetime]
    finished_at: Mapped[datetime]
    from_commit: Mapped[str | None]
    to_commit: Mapped[str | None]
    removed: Mapped[int] = mapped_column(default=0)
    changed: Mapped[int] = mapped_column(default=0)
    code: Mapped[str | None]
    detail: Mapped[str | None]
    repeats: Mapped[int] = mapped_column(default=1)
