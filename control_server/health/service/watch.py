"""Watches for changes: keeps each once, and lets incidents follow what is wrong."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

import structlog

from control_server.health.models import HealthTransition
from control_server.health.repository import HealthRepository
from control_server.health.rules.findings import cannot_be_seen, findings_of
from control_server.health.rules.judging import judge
from control_server.health.schemas import NodeHealth, NodeView, Reason, State, Stood
from control_server.health.service.recording import HealthRecorder
from control_server.health.service.views import Views
from control_server.incidents.schemas import Finding
from control_server.incidents.service import IncidentLedger

log = structlog.get_logger(__name__)

#: Processes that cannot ask the tier know of each other's agents what SQL knows, which is a minute old.
_GRACE = timedelta(seconds=75)
#: A transaction for each node would take a large fleet's whole pass when many change at once.
_AT_ONCE = 50


@dataclass(frozen=True, slots=True)
class HealthWatch:
    """Any number of processes may watch: the row of a node lets one of them write each change."""

    views: Views
    recorder: HealthRecorder

    async def look(self) -> None:
        """Judge every node."""
        now = self.views.now()
        judged = [(view, judge(view, now)) for view in await self.views.read(grace=_GRACE)]
        changed = [health for view, health in judged if _differs(view.stood, health)]
        for at in range(0, len(changed), _AT_ONCE):
            await self._keep(changed[at : at + _AT_ONCE], now)
        await self._reconcile(judged, now)

    async def _keep(self, changed: Sequence[NodeHealth], now: datetime) -> None:
        """Write down how they stand now; all processes take the rows in the same order."""
        async with self.views.database.transaction() as session:
            rows = HealthRepository(session)
            for health in changed:
                await _write(rows, health, now)
        for health in changed:
            await self.recorder.forget(health.node_id)

    async def _reconcile(self, judged: Sequence[tuple[NodeView, NodeHealth]], now: datetime) -> None:
        findings: list[Finding] = []
        for view, health in judged:
            findings += findings_of(view, health, now)
        unseen = {health.node_id for _, health in judged if cannot_be_seen(health)}
        async with self.views.database.reading() as session:
            quiet = not findings and not await IncidentLedger.within(session).any_open()
        if quiet:
            return
        async with self.views.database.transaction() as session:
            await IncidentLedger.within(session).reconcile(findings, unseen, now)


async def _write(rows: HealthRepository, health: NodeHealth, now: datetime) -> None:
    row = await rows.hold(health.node_id)
    stood = {part: Stood.model_validate(kept) for part, kept in row.stood.items()}
    found = _stands(health, now)
    for part, new in found.items():
        old = stood.get(part)
        if old is not None and old.state is new.state:
            new.since = old.since
            continue
        before = old.state if old else State.UNKNOWN
        if before is not new.state:
            rows.add(_change(health.node_id, part, before, new, now))
            log.info("health.changed", node=health.node_id, part=part, state=new.state)
    await rows.write(health.node_id, stood={part: new.model_dump(mode="json") for part, new in found.items()})


def _differs(stood: dict[str, Stood], health: NodeHealth) -> bool:
    known = {part: kept.state for part, kept in stood.items()}
    return known != {"overall": health.state, **{part.part.value: part.state for part in health.parts}}


def _stands(health: NodeHealth, now: datetime) -> dict[str, Stood]:
    whole = Stood(state=health.state, since=health.since or now, reasons=health.reasons)
    return {"overall": whole} | {
        part.part.value: Stood(state=part.state, since=part.since or now, reasons=part.reasons)
        for part in health.parts
    }


def _change(node_id: str, part: str, before: State, new: Stood, now: datetime) -> HealthTransition:
    reasons: list[Reason] = new.reasons
    return HealthTransition(
        node_id=node_id,
        part=part,
        before=before,
        after=new.state,
        reasons=[reason.model_dump(mode="json") for reason in reasons],
        at=now,
    )
