"""Watches for changes: keeps each once, and lets incidents follow what is wrong."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

import structlog

from control_server.health.models import HealthTransition
from control_server.health.repository import HealthRepository
from control_server.health.rules.findings import cannot_be_seen, findings_of
from control_server.health.schemas import NodeHealth, NodeView, Reason, State, Stood
from control_server.health.service.memory import Judged
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
        judged = await self.views.judged(grace=_GRACE)
        changed = [found.health for view, found in judged if _differs(view.stood, found.health)]
        for at in range(0, len(changed), _AT_ONCE):
            await self._keep(changed[at : at + _AT_ONCE], now)
        await self._reconcile(judged, now)

    async def _keep(self, changed: Sequence[NodeHealth], now: datetime) -> None:
        """Write down how they stand now, in as many statements as one takes.

        All processes take the rows in the same order.
        """
        async with self.views.database.transaction() as session:
            rows = HealthRepository(session)
            known = await rows.hold_stood([health.node_id for health in changed])
            stands = {health.node_id: _stands(health, now) for health in changed}
            for node_id, found in stands.items():
                before = {part: Stood.model_validate(kept) for part, kept in known[node_id].items()}
                for change in _changes(node_id, before, found, now):
                    rows.add(change)
            await rows.write_stood(
                {
                    node_id: {part: stood.model_dump(mode="json") for part, stood in found.items()}
                    for node_id, found in stands.items()
                }
            )
        await self.recorder.forget_all([health.node_id for health in changed])

    async def _reconcile(self, judged: Sequence[tuple[NodeView, Judged]], now: datetime) -> None:
        findings: list[Finding] = []
        for view, found in judged:
            findings += findings_of(view, found.issues, now)
        unseen = {found.health.node_id for _, found in judged if cannot_be_seen(found.health)}
        async with self.views.database.reading() as session:
            quiet = not findings and not await IncidentLedger.within(session).any_open()
        if quiet:
            return
        async with self.views.database.transaction() as session:
            await IncidentLedger.within(session).reconcile(findings, unseen, now)


def _changes(
    node_id: str, before: dict[str, Stood], found: dict[str, Stood], now: datetime
) -> Iterator[HealthTransition]:
    """What is to be kept of it; what stands as it stood goes on as of then."""
    for part, new in found.items():
        old = before.get(part)
        if old is not None and old.state is new.state:
            new.since = old.since
            continue
        was = old.state if old else State.UNKNOWN
        if was is not new.state:
            log.info("health.changed", node=node_id, part=part, state=new.state)
            yield _change(node_id, part, was, new, now)


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
