"""Opens and closes. Any number of processes may find the same thing: one of them opens, and one closes."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Self
from uuid import UUID

import structlog

from control_server.incidents import rules
from control_server.incidents.models import FleetIncident
from control_server.incidents.repository import IncidentRepository
from control_server.incidents.schemas import Finding, IncidentKind, IncidentRead

log = structlog.get_logger(__name__)

#: What tells two incidents apart.
Subject = tuple[IncidentKind, str, str]


@dataclass(frozen=True, slots=True)
class IncidentLedger:
    """Incidents inside a caller's transaction."""

    incidents: IncidentRepository

    @classmethod
    def within(cls, session: Any) -> Self:
        """The ledger in the session of a caller's transaction."""
        return cls(IncidentRepository(session))

    async def open(self, finding: Finding, at: datetime) -> UUID | None:
        """Open an incident; None where the same thing has one that is open."""
        opened = await self.incidents.claim_opening(finding, at)
        if opened is not None:
            facts = {"kind": finding.kind, "node": finding.node_id, "subject": finding.subject}
            log.warning("incident.opened", incident=str(opened), **facts)
        return opened

    async def close(self, incident_id: UUID, at: datetime) -> bool:
        """Close an incident; False where it is closed."""
        closed = await self.incidents.claim_closing(incident_id, at)
        if closed:
            log.info("incident.closed", incident=str(incident_id))
        return closed

    async def mute(self, what: Subject, at: datetime | None) -> None:
        """Count the open incident of this kind, node and subject no more; None: again."""
        await self.incidents.mute(what, at)

    async def list_open(self, kinds: Collection[IncidentKind]) -> list[IncidentRead]:
        """Those of these kinds that are open."""
        return [IncidentRead.model_validate(row) for row in await self.incidents.list_open(kinds)]

    async def any_open(self) -> bool:
        """Whether there is one."""
        opened, _ = await self.incidents.count_open()
        return opened > 0

    async def forget(self, before: datetime) -> None:
        """Remove what was closed before an instant."""
        await self.incidents.remove_before(before)

    async def reconcile(
        self, findings: Sequence[Finding], held_nodes: Collection[str], now: datetime
    ) -> None:
        """Make the open incidents follow what is wrong now; those that are scored follow their scores.

        A node in maintenance, or one that cannot be seen, gets no incident, and none of its own ends.
        """
        wrong = {_subject(finding): finding for finding in findings}
        kinds = [kind for kind in IncidentKind if kind not in rules.SCORED]
        known = {_subject(row): row for row in await self.incidents.list_open(kinds)}
        for subject, row in known.items():
            await self._follow(row, now, wrong=subject in wrong, held=row.node_id in held_nodes)
        for subject, finding in wrong.items():
            fresh = subject not in known and finding.node_id not in held_nodes
            if fresh and rules.counts_as_incident(finding.kind, finding.since, now):
                await self.open(finding, now)

    async def _follow(self, row: FleetIncident, now: datetime, *, wrong: bool, held: bool) -> None:
        if row.held is not held:
            await self.incidents.note(row.id, held=held)
        if held or wrong:
            if row.clear_since is not None:
                await self.incidents.note(row.id, clear_since=None)
            return
        clear_since = row.clear_since or now
        if rules.step_of(IncidentKind(row.kind), clear_since, now) is rules.Step.CLOSE:
            await self.close(row.id, now)
        elif row.clear_since is None:
            await self.incidents.note(row.id, clear_since=now)


def _subject(what: Finding | FleetIncident) -> Subject:
    return IncidentKind(what.kind), what.node_id, what.subject
