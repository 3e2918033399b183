"""Lets an operator quieten one restless subject until it clears."""

from __future__ import annotations

from dataclasses import dataclass

from control_server.audit.service import Audit
from control_server.flaps.errors import FlapSteady
from control_server.flaps.repository import FlapMutes
from control_server.flaps.schemas import FlapRead, Level, MuteQuery, Subject
from control_server.flaps.service.reading import FlapService
from control_server.flaps.service.subjects import INCIDENT_OF
from control_server.incidents.schemas import IncidentKind
from control_server.incidents.service import IncidentLedger
from shared.kernel.principal import Principal


@dataclass(frozen=True, slots=True)
class FlapMuting:
    """Mutes as one session sees them. Nothing else changes: scores, health and incidents go on as they do."""

    flaps: FlapService
    mutes: FlapMutes
    incidents: IncidentLedger
    audit: Audit

    async def mute(self, actor: Principal, node_id: str, wanted: MuteQuery) -> FlapRead:
        """Mute a subject until it clears; once is enough. Raises FlapUnknown, FlapSteady."""
        # Read in a session of its own, so it comes before the first statement of this one.
        subject = (node_id, wanted.kind, wanted.subject)
        read = await self.flaps.get(subject)
        if read.level is Level.STABLE:
            raise FlapSteady
        at = self.flaps.now()
        if not await self.mutes.claim(subject, actor.name, at):
            return read
        await self.incidents.mute(_incident(subject), at)
        self.audit.note(actor, "flap.muted", ("node", node_id), after=_facts(wanted))
        return read.model_copy(update={"muted_by": actor.name, "muted_at": at})

    async def unmute(self, actor: Principal, node_id: str, wanted: MuteQuery) -> None:
        """Lift a mute; where there is none, nothing happens."""
        subject = (node_id, wanted.kind, wanted.subject)
        if await self.mutes.claim_end(subject):
            await self.incidents.mute(_incident(subject), None)
            self.audit.note(actor, "flap.unmuted", ("node", node_id), before=_facts(wanted))


def _incident(subject: Subject) -> tuple[IncidentKind, str, str]:
    node_id, kind, name = subject
    return INCIDENT_OF[kind], node_id, name


def _facts(wanted: MuteQuery) -> dict[str, str]:
    return {"kind": wanted.kind.value, "subject": wanted.subject}
