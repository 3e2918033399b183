"""The watch over probes: whatever happens to agents and servers, every probe ends once (S13)."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from uuid import UUID

import structlog

from control_server.agents.schemas import Reach
from control_server.probes import rules
from control_server.probes.models import Probe, ProbeNode
from control_server.probes.repository import ProbeRepository
from control_server.probes.schemas import Ending, Line, Outcome
from control_server.probes.service.runs import ProbeRuns
from shared.cache import TierUnavailable
from shared.kernel.ids import short_id
from shared.protocol.frames import ProbeCancel
from shared.protocol.probes import ProbeLimits, ProbeReason, ProbeState

log = structlog.get_logger(__name__)

_DETAIL = {
    ProbeReason.NOT_STARTED: "The agent did not say in time that it had started.",
    ProbeReason.DEADLINE: "The agent did not say in time that it had ended.",
    ProbeReason.AGENT_LOST: "The agent's connection was lost and did not come back in time.",
    ProbeReason.SERVER_RESTARTED: "The server was restarted in the middle of the probe.",
}
_Unfinished = Sequence[tuple[Probe, ProbeNode]]


@dataclass(slots=True)
class ProbeWatch:
    """One for the life of the process; its first pass ends what a dead process has left behind."""

    runs: ProbeRuns
    _since: datetime = field(init=False)
    _recovered: bool = field(init=False, default=False)

    def __post_init__(self) -> None:
        """Remember when this process began."""
        self._since = self.runs.now()

    async def run_once(self) -> None:
        """One pass: end what is overdue, store new lines, repair what was interrupted, free memory."""
        if not self._recovered:
            await self.recover()
            self._recovered = True
        await self.runs.retry_stalled()
        unfinished = await self._unfinished()
        reach = await self.runs.link.reach(sorted({share.node_id for _, share in unfinished}))
        for probe, share in unfinished:
            await self._judge(probe, share, reach)
        with contextlib.suppress(TierUnavailable):
            await self._store_progress(unfinished)
            await self._repeat_endings()
        await self.runs.relay.sweep()

    async def recover(self) -> None:
        """End the probes of an earlier process whose lines nobody holds any more."""
        for probe, share in await self._unfinished():
            if probe.created_at > self._since or await self._may_be_held(probe.id):
                continue
            # Viewers may have seen numbers that were never stored, so the numbering begins anew (S6).
            async with self.runs.database.transaction() as session:
                await ProbeRepository(session).set_epoch(probe.id, short_id(8))
            log.warning("probe.recovered", probe_id=str(probe.id), node=share.node_id)
            await self._end(probe, share, ProbeReason.SERVER_RESTARTED)

    async def _unfinished(self) -> _Unfinished:
        async with self.runs.database.reading() as session:
            return await ProbeRepository(session).list_unfinished()

    async def _may_be_held(self, probe_id: UUID) -> bool:
        """Whether some process still has the lines: its probes are none of our business."""
        try:
            return await self.runs.relay.holds(probe_id)
        except TierUnavailable:
            return True

    async def _judge(self, probe: Probe, share: ProbeNode, reach: Reach) -> None:
        try:
            closed = await self.runs.relay.closed_share(probe.id, share.node_id)
        except TierUnavailable:
            closed = None
        if closed is not None:  # its end could not be stored at the time
            await self.runs.end_anyhow(probe.id, share.node_id, closed.outcome)
            return
        reason = self._why_now(probe, share, reach)
        if reason is not None:
            await self.runs.link.send(share.node_id, ProbeCancel(probe_id=probe.id))
            await self._end(probe, share, reason)

    def _why_now(self, probe: Probe, share: ProbeNode, reach: Reach) -> ProbeReason | None:
        settings, now = self.runs.settings, self.runs.now()
        seconds = ProbeLimits.model_validate(probe.limits).seconds
        limits = timedelta(seconds=settings.start_seconds), timedelta(seconds=seconds)
        late = rules.overdue(
            (ProbeState(share.state), share.started_at), (probe.created_at, probe.cancelled_at), limits, now
        )
        if late is not None:
            return late
        if share.node_id in reach.nodes or not reach.certain:
            self.runs.lost.pop(share.node_id, None)
            return None
        since = self.runs.lost.setdefault(share.node_id, now)
        grace = timedelta(seconds=settings.lost_seconds)
        return ProbeReason.AGENT_LOST if now >= since + grace else None

    async def _end(self, probe: Probe, share: ProbeNode, reason: ProbeReason) -> None:
        outcome = Outcome(rules.state_of(reason), reason, _DETAIL.get(reason, ""))
        await self.runs.end_anyhow(probe.id, share.node_id, outcome)

    async def _store_progress(self, unfinished: _Unfinished) -> None:
        """Store what has come since the last pass, so that a dead server loses a second of lines."""
        fresh: list[tuple[Probe, Sequence[Line]]] = []
        for probe in {probe.id: probe for probe, _ in unfinished}.values():
            held = await self.runs.relay.read(probe.id, after=probe.archived_seq)
            if held is not None and held.last_seq < probe.archived_seq:
                await self._went_back(probe, unfinished)
            elif held is not None and held.lines:
                fresh.append((probe, held.lines))
        if not fresh:
            return
        async with self.runs.database.transaction() as session:
            probes = ProbeRepository(session)
            for probe, lines in fresh:
                await probes.lock(probe.id)
                await probes.archive(probe.id, lines)

    async def _archive_rest(self, probe: Probe) -> None:
        held = await self.runs.relay.read(probe.id, after=probe.archived_seq)
        if held is not None and held.lines:
            async with self.runs.database.transaction() as session:
                probes = ProbeRepository(session)
                await probes.lock(probe.id)
                await probes.archive(probe.id, held.lines)

    async def _went_back(self, probe: Probe, unfinished: _Unfinished) -> None:
        """The tier was restarted with an older state: numbers would be given twice, so it ends here."""
        await self.runs.relay.drop(probe.id)
        for other, share in unfinished:
            if other.id == probe.id:
                await self.runs.interrupted(probe.id, share.node_id)

    async def _repeat_endings(self) -> None:
        """Tell viewers of an end that was stored by somebody who was cut off before telling them."""
        open_probes = await self.runs.relay.unfinished()
        if not open_probes:
            return
        async with self.runs.database.reading() as session:
            ended = await ProbeRepository(session).list_endings(open_probes)
        for probe in ended:
            # An end that was stored while the tier was away was stored without its last lines.
            await self._archive_rest(probe)
            reason = ProbeReason(probe.reason) if probe.reason else None
            await self.runs.relay.finish(probe.id, Ending(ProbeState(probe.state), reason))
