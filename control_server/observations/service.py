"""Takes the reports of agents, and tells them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import structlog

from control_server.agents.service import AgentConnection
from control_server.observations.models import NodeReport
from control_server.observations.repository import ObservationRepository
from control_server.observations.schemas import ObservationRead
from shared.database import Database
from shared.kernel.clock import Clock
from shared.protocol.fleet import ApplyResult, ApplyState, ReconciliationReport, RuntimeSnapshot

log = structlog.get_logger(__name__)

NodeSaid = ApplyResult | ReconciliationReport | RuntimeSnapshot


@dataclass(frozen=True, slots=True)
class Said:
    """One report: of whom, when it was heard, and through which connection; None: by HTTP."""

    node_id: str
    report: NodeSaid
    at: datetime
    fencing_token: int | None = None


#: Acts on a report inside its transaction, whose session it is handed; what comes twice it must bear.
ReportObserver = Callable[[Any, Said], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Observations:
    """Reports as one session sees them."""

    rows: ObservationRepository

    async def get(self, node_id: str) -> ObservationRead:
        """What is known of a node; empty while its agent has said nothing."""
        row = await self.rows.find(node_id)
        return _read(row) if row is not None else ObservationRead(node_id=node_id)

    async def by_node(self, node_ids: Collection[str]) -> Mapping[str, ObservationRead]:
        """What is known of these nodes."""
        return {node: _read(row) for node, row in (await self.rows.by_node(node_ids)).items()}


@dataclass(frozen=True, slots=True)
class Listening:
    """Stores what agents say, each report in a transaction of its own."""

    database: Database
    now: Clock
    observers: Sequence[ReportObserver] = ()

    async def hear(self, connection: AgentConnection, report: NodeSaid) -> None:
        """A report that came over a socket."""
        await self.take(connection.node_id, report, connection.fencing_token)

    async def take(self, node_id: str, report: NodeSaid, fencing_token: int | None = None) -> None:
        """Keep the newest report of its kind; one that is older than what is kept changes nothing."""
        at = self.now()
        async with self.database.transaction() as session:
            row = await ObservationRepository(session).writable(node_id)
            match report:
                case ApplyResult():
                    _take_result(row, report)
                    row.applied_at = at
                case ReconciliationReport():
                    row.drift, row.drift_at = report.model_dump(mode="json"), at
                case RuntimeSnapshot():
                    row.snapshot, row.snapshot_at = report.model_dump(mode="json"), at
            for observe in self.observers:
                await observe(session, Said(node_id, report, at, fencing_token))
        log.info("agent.reported", node=node_id, report=report.type)


def _take_result(row: NodeReport, result: ApplyResult) -> None:
    kept = ApplyResult.model_validate(row.apply_result) if row.apply_result else None
    if kept is not None and kept.finished_at > result.finished_at:
        return
    row.apply_result = result.model_dump(mode="json")
    if result.status is ApplyState.APPLIED:
        row.applied_generation = result.generation


def _read(row: NodeReport) -> ObservationRead:
    return ObservationRead(
        node_id=row.node_id,
        apply_result=ApplyResult.model_validate(row.apply_result) if row.apply_result else None,
        applied_at=row.applied_at,
        applied_generation=row.applied_generation,
        drift=ReconciliationReport.model_validate(row.drift) if row.drift else None,
        drift_at=row.drift_at,
        snapshot=RuntimeSnapshot.model_validate(row.snapshot) if row.snapshot else None,
        snapshot_at=row.snapshot_at,
    )
