"""Tables of workers and of what scheduled jobs came to."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy.orm import Mapped, mapped_column

from control_server.tables import Base


class JobWorker(Base):
    """A process that works, as of its last heartbeat."""

    __tablename__ = "job_workers"

    id: Mapped[str] = mapped_column(primary_key=True)
    started_at: Mapped[datetime]
    seen_at: Mapped[datetime] = mapped_column(index=True)
    #: What it holds: queue, job id, kind, attempt and since when.
    running: Mapped[list[Any]] = mapped_column(default=list)


class JobResult(Base):
    """The last end of each kind of job."""

    __tablename__ = "job_results"

    kind: Mapped[str] = mapped_column(primary_key=True)
    finished_at: Mapped[datetime]
    #: `done`, `failed` or `dead`.
    outcome: Mapped[str]
    milliseconds: Mapped[int]
    error: Mapped[str]
