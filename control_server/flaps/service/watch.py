"""Closes what has come to rest: a score falls by itself, so nobody reports that it is low again.

So do mutes end, and what they say of incidents is made good where an incident and a mute crossed each other.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

import structlog

from control_server.flaps.models import FlapMute
from control_server.flaps.repository import FlapMutes
from control_server.flaps.rules.score import CLEAR
from control_server.flaps.schemas import FlapRead, Level, SessionState, Subject, SubjectKind
from control_server.flaps.service.reading import FlapService
from control_server.flaps.service.subjects import INCIDENT_OF, SUBJECT_OF
from control_server.incidents.rules import SCORED
from control_server.incidents.schemas import IncidentRead
from control_server.incidents.service import IncidentLedger
from shared.database import Database
from shared.kernel.clock import Clock

log = structlog.get_logger(__name__)

#: A score that nobody remembers is zero by then, whatever it was.
_OUTLIVED = timedelta(hours=2)
#: Scores as far as they are known.
Scores = Mapping[Subject, FlapRead]


@dataclass(frozen=True, slots=True)
class FlapWatch:
    """Any number of processes may watch: the database lets one of them close, and end."""

    database: Database
    flaps: FlapService
    now: Clock

    async def look(self) -> None:
        """Close incidents, and end mutes, whose subjects are below the clearing level, and steady."""
        async with self.database.reading() as session:
            opened = await IncidentLedger.within(session).list_open(SCORED)
            mutes = await FlapMutes(session).list_of()
        if not opened and not mutes:
            return
        nodes = {incident.node_id for incident in opened} | {mute.node_id for mute in mutes}
        scores, whole = await self.flaps.sighted(nodes)
        now = self.now()
        over = [incident for incident in opened if _is_over(incident, scores, now)]
        ended = [mute for mute in mutes if whole and _has_cleared(mute, scores)]
        crossed = _crossed([one for one in opened if one not in over], mutes)
        if over or ended or crossed:
            await self._settle(over, ended, crossed)

    async def _settle(
        self,
        over: Sequence[IncidentRead],
        ended: Sequence[FlapMute],
        crossed: Sequence[tuple[IncidentRead, datetime | None]],
    ) -> None:
        now = self.now()
        async with self.database.transaction() as session:
            ledger, mutes = IncidentLedger.within(session), FlapMutes(session)
            for incident in over:
                await ledger.close(incident.id, now)
            for mute in ended:
                subject = _subject(mute)
                if await mutes.claim_end(subject, mute.muted_at):
                    node_id, kind, name = subject
                    await ledger.mute((INCIDENT_OF[kind], node_id, name), None)
                    log.info("flap.mute_ended", node=node_id, kind=kind, subject=name)
            for incident, muted_at in crossed:
                await ledger.mute((incident.kind, incident.node_id, incident.subject), muted_at)


def _subject(mute: FlapMute) -> Subject:
    return mute.node_id, SubjectKind(mute.kind), mute.subject


def _has_cleared(mute: FlapMute, scores: Scores) -> bool:
    read = scores.get(_subject(mute))
    return read is None or read.level is Level.STABLE


def _crossed(
    opened: Sequence[IncidentRead], mutes: Sequence[FlapMute]
) -> list[tuple[IncidentRead, datetime | None]]:
    """Incidents that stand otherwise than the mutes of their subjects say, and how they should."""
    muted = {_subject(mute): mute.muted_at for mute in mutes}
    found = ((one, muted.get((one.node_id, SUBJECT_OF[one.kind], one.subject))) for one in opened)
    return [(one, muted_at) for one, muted_at in found if one.muted_at != muted_at]


def _is_over(incident: IncidentRead, scores: Scores, now: datetime) -> bool:
    read = scores.get((incident.node_id, SUBJECT_OF[incident.kind], incident.subject))
    if read is None:
        return now - incident.opened_at >= _OUTLIVED
    if read.score >= CLEAR:
        return False
    # Unknown is not steady, and not over either: the agent has to be heard first.
    return read.state in {None, SessionState.ESTABLISHED, SessionState.DISABLED}
