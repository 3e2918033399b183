"""Closes what has come to rest: a score falls by itself, so nobody reports that it is low again."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta

from control_server.flaps.rules.score import CLEAR
from control_server.flaps.schemas import FlapRead, SessionState, SubjectKind
from control_server.flaps.service.reading import FlapService
from control_server.incidents.rules import SCORED
from control_server.incidents.schemas import IncidentKind, IncidentRead
from control_server.incidents.service import IncidentLedger
from shared.database import Database
from shared.kernel.clock import Clock

#: A score that nobody remembers is zero by then, whatever it was.
_OUTLIVED = timedelta(hours=2)
_KINDS = {
    IncidentKind.SESSION_FLAPPING: SubjectKind.SESSION,
    IncidentKind.PREFIX_FLAPPING: SubjectKind.PREFIX,
    IncidentKind.NODE_FLAPPING: SubjectKind.NODE,
}


@dataclass(frozen=True, slots=True)
class FlapWatch:
    """Any number of processes may watch: the database lets one of them close."""

    database: Database
    flaps: FlapService
    now: Clock

    async def look(self) -> None:
        """Close the incidents whose subjects are below the clearing level, and steady."""
        async with self.database.reading() as session:
            opened = await IncidentLedger.within(session).list_open(SCORED)
        if not opened:
            return
        nodes = {incident.node_id for incident in opened}
        found = await self.flaps.of_nodes(nodes)
        scores = {(read.node_id, read.kind, read.subject): read for read in found}
        now = self.now()
        over = [incident for incident in opened if _is_over(incident, scores, now)]
        if over:
            await self._close(over, now)

    async def _close(self, over: Iterable[IncidentRead], now: datetime) -> None:
        async with self.database.transaction() as session:
            for incident in over:
                await IncidentLedger.within(session).close(incident.id, now)


def _is_over(
    incident: IncidentRead, scores: dict[tuple[str, SubjectKind, str], FlapRead], now: datetime
) -> bool:
    read = scores.get((incident.node_id, _KINDS[incident.kind], incident.subject))
    if read is None:
        return now - incident.opened_at >= _OUTLIVED
    if read.score >= CLEAR:
        return False
    # Unknown is not steady, and not over either: the agent has to be heard first.
    return read.state in {None, SessionState.ESTABLISHED, SessionState.DISABLED}
