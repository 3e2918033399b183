"""Wire shapes of observations."""

from __future__ import annotations

from datetime import datetime

from pydantic import BaseModel, Field

from shared.protocol.fleet import ApplyResult, ReconciliationReport, RuntimeSnapshot


class ObservationRead(BaseModel):
    """Everything that the agent of a node has said last. None: it has not said it yet."""

    node_id: str
    apply_result: ApplyResult | None = None
    applied_at: datetime | None = Field(default=None, description="When the server heard it")
    applied_generation: int | None = Field(default=None, description="The newest that was proven to run")
    drift: ReconciliationReport | None = None
    drift_at: datetime | None = None
    snapshot: RuntimeSnapshot | None = None
    snapshot_at: datetime | None = None
