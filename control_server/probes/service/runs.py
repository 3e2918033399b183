"""Running probes: start them on agents, take what agents send, end each share and each probe once."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from uuid import UUID

import structlog

from control_server.agents.service import AgentLink
from control_server.metrics import ProbeMetrics
from control_server.probes import rules
from control_server.probes.errors import OutputRefused, ProbeUnknown
from control_server.probes.models import Probe, ProbeNode
from control_server.probes.repository import ProbeRepository
from control_server.probes.schemas import Closed, Ending, Line, Outcome, ProbeJob
from control_server.probes.service.reading import ProbeReader
from control_server.probes.service.stalled import Peer, StalledFrames
from control_server.probes.store import Relay
from control_server.settings import ProbeSettings
from shared.cache import TierUnavailable
from shared.database import Database
from shared.kernel.clock import Clock
from shared.kernel.ids import short_id
from shared.protocol.frames import (
    ProbeAccepted,
    ProbeCancel,
    ProbeDone,
    ProbeOutput,
    ProbeRefused,
    ProbeStart,
    ProbeStored,
)
from shared.protocol.probes import (
    ProbeLimits,
    ProbeOptions,
    ProbeReason,
    ProbeState,
    TargetRules,
    Tool,
)

log = structlog.get_logger(__name__)

_LOST = "The lines of the running probe were lost with the server that held them."


@dataclass(frozen=True, slots=True)
class ProbeRuns:
    """Unfinished probes. One for the life of the process; every act is a transaction of its own."""

    database: Database
    relay: Relay
    link: AgentLink
    settings: ProbeSettings
    metrics: ProbeMetrics
    now: Clock
    #: Since when a node with unfinished shares has had no peer.
    lost: dict[str, datetime] = field(default_factory=dict)
    #: What agents sent while the tier that holds their probes did not answer.
    stalled: StalledFrames = field(default_factory=StalledFrames)

    @property
    def reader(self) -> ProbeReader:
        """The same probes for reading."""
        return ProbeReader(self.database, self.relay)

    # --- what people want ------------------------------------------------------------------------

    async def start(self, probe: Probe, shares: Sequence[ProbeNode]) -> None:
        """Ask the agents of the shares to run it; for after the probe is committed."""
        limits = ProbeLimits.model_validate(probe.limits)
        nodes = tuple(share.node_id for share in shares)
        await self.relay.open(ProbeJob(probe.id, probe.epoch, nodes, limits, self.settings.viewers))
        for share in shares:
            if not await self.link.send(share.node_id, start_frame(probe, share)):
                detail = "The node's agent was gone before the probe could start."
                outcome = Outcome(ProbeState.FAILED, ProbeReason.NODE_OFFLINE, detail)
                await self.end_anyhow(probe.id, share.node_id, outcome)

    async def cancel(self, probe_id: UUID) -> None:
        """Ask the agents to stop; shares of agents that are away end at once."""
        async with self.database.reading() as session:
            unfinished = await ProbeRepository(session).list_unfinished()
        for probe, share in unfinished:
            if probe.id != probe_id:
                continue
            if not await self.link.send(share.node_id, ProbeCancel(probe_id=probe_id)):
                await self.end_anyhow(
                    probe_id, share.node_id, Outcome(ProbeState.CANCELLED, ProbeReason.CANCELLED)
                )
        await self._announce(probe_id)

    # --- what agents say -------------------------------------------------------------------------

    async def agent_ready(self, peer: Peer) -> None:
        """Repeat to a new connection what the agent may have missed; agents take a start once."""
        self.lost.pop(peer.node_id, None)
        self.stalled.forget(peer.node_id, but_of=peer)
        async with self.database.reading() as session:
            unfinished = await ProbeRepository(session).list_unfinished(peer.node_id)
        for probe, share in unfinished:
            if not await self._may_hold(probe.id):
                continue
            if share.state == ProbeState.ACCEPTED:
                peer.send(start_frame(probe, share))
            if probe.cancelled_at is not None:
                peer.send(ProbeCancel(probe_id=probe.id))

    async def agent_lost(self, node_id: str, fencing_token: int) -> None:
        """Begin the grace of a node; the watch ends its shares when it does not come back."""
        del fencing_token
        self.stalled.forget(node_id)  # it sends them again on its next connection
        self.lost[node_id] = self.now()

    async def accepted(self, peer: Peer, frame: ProbeAccepted) -> None:
        """The agent has started the tool."""
        about = rules.clean_text(frame.command), rules.clean_text(frame.address)
        async with self.database.transaction() as session:
            probes = ProbeRepository(session)
            state = await probes.claim_running(frame.probe_id, peer.node_id, about, self.now())
        if state is None:
            self._refuse(peer, frame.probe_id, ProbeUnknown())
        elif ProbeState(state).final:
            self._refuse(peer, frame.probe_id, OutputRefused())
        else:
            await self._announce(frame.probe_id)

    async def output(self, peer: Peer, frame: ProbeOutput) -> None:
        """Lines of the tool: each is taken once, and only from the node that runs the probe (S12, S15)."""
        if self.stalled.waits_behind(peer, frame):
            return
        try:
            await self._take_output(peer, frame)
        except TierUnavailable:
            self.stalled.add(peer, frame)

    async def _take_output(self, peer: Peer, frame: ProbeOutput) -> None:
        node_id = peer.node_id
        try:
            appended = await self.relay.append(frame.probe_id, node_id, frame.lines)
        except ProbeUnknown as refusal:
            self._refuse(peer, frame.probe_id, refusal)
            await self.interrupted(frame.probe_id, node_id)
            return
        except OutputRefused as refusal:
            self._refuse(peer, frame.probe_id, refusal)
            return
        self.metrics.lines.inc(len(frame.lines))
        peer.send(ProbeStored(probe_id=frame.probe_id, seq=appended.stored_seq))
        if appended.over_limit:
            peer.send(ProbeCancel(probe_id=frame.probe_id))
            outcome = Outcome(ProbeState.FAILED, ProbeReason.OUTPUT_LIMIT, truncated=True)
            await self.end_anyhow(frame.probe_id, node_id, outcome)

    async def done(self, peer: Peer, frame: ProbeDone) -> None:
        """The tool has ended. What comes after the end is refused and changes nothing."""
        if self.stalled.waits_behind(peer, frame):
            return
        try:
            await self._take_end(peer, frame)
        except TierUnavailable:
            self.stalled.add(peer, frame)

    async def retry_stalled(self) -> None:
        """Take what could not be taken while a tier was away, in the order in which it came."""
        for peer, frames in self.stalled.queues():
            while frames:
                frame = frames[0]
                try:
                    if isinstance(frame, ProbeDone):
                        await self._take_end(peer, frame)
                    else:
                        await self._take_output(peer, frame)
                except TierUnavailable:
                    break
                frames.popleft()
        self.stalled.tidy()

    async def _take_end(self, peer: Peer, frame: ProbeDone) -> None:
        node_id = peer.node_id
        async with self.database.reading() as session:
            share = await ProbeRepository(session).find_share(frame.probe_id, node_id)
        if share is None or not (ProbeState(share[1]).final or await self.relay.holds(frame.probe_id)):
            self._refuse(peer, frame.probe_id, ProbeUnknown())
            await self.interrupted(frame.probe_id, node_id)
            return
        outcome = rules.outcome_of(frame, Tool(share[0]))
        if not await self.end_share(frame.probe_id, node_id, outcome):
            self._refuse(peer, frame.probe_id, OutputRefused())
            return
        peer.send(ProbeStored(probe_id=frame.probe_id, seq=frame.last_seq, final=True))

    def _refuse(self, peer: Peer, probe_id: UUID, refusal: OutputRefused) -> None:
        self.metrics.refused.labels(refusal.code).inc()
        log.info("probe.frame_refused", probe_id=str(probe_id), node=peer.node_id, code=refusal.code)
        peer.send(ProbeRefused(probe_id=probe_id, code=refusal.code, detail=refusal.detail))

    # --- the end ---------------------------------------------------------------------------------

    async def end_share(self, probe_id: UUID, node_id: str, outcome: Outcome) -> bool:
        """End the share of a node, and the probe with its last share; False when somebody else did.

        The relay stops taking lines first, so nothing can follow. Then one transaction stores the lines
        and the state. Only then do viewers hear of it (S7). Raises TierUnavailable where the lines cannot be
        had now.
        """
        closed = await self.relay.close_share(probe_id, node_id, outcome)
        held = await self.relay.read(probe_id)
        lines = held.lines if held else ()
        return await self._end((probe_id, node_id), closed or Closed(outcome, None, outcome.truncated), lines)

    async def end_anyhow(self, probe_id: UUID, node_id: str, outcome: Outcome) -> bool:
        """The same, without lines where the tier that holds them does not answer: it ends all the same."""
        try:
            return await self.end_share(probe_id, node_id, outcome)
        except TierUnavailable:
            return await self._end((probe_id, node_id), Closed(outcome, None, outcome.truncated), ())

    async def _end(
        self, share: tuple[UUID, str], closed: Closed, lines: Sequence[Line], epoch: str | None = None
    ) -> bool:
        probe_id = share[0]
        async with self.database.transaction() as session:
            probes = ProbeRepository(session)
            ending, won = await self._store_end(probes, share, closed, lines)
            if won and epoch is not None:
                await probes.set_epoch(probe_id, epoch)
        if not won:
            return False
        await self._announce(probe_id)
        if ending is not None:
            await self._tell_end(probe_id, ending)
        return True

    async def _store_end(
        self, probes: ProbeRepository, share: tuple[UUID, str], closed: Closed, lines: Sequence[Line]
    ) -> tuple[Ending | None, bool]:
        probe_id, node_id = share
        await probes.lock(probe_id)
        if not await probes.claim_share_end(probe_id, node_id, closed, self.now()):
            return None, False
        await probes.archive(probe_id, lines)
        outcomes = [
            (ProbeState(state), ProbeReason(reason) if reason else None)
            for state, reason in await probes.list_outcomes(probe_id)
        ]
        if not all(state.final for state, _ in outcomes):
            return None, True
        ending = rules.overall(outcomes)
        return (ending if await probes.claim_end(probe_id, ending, self.now()) else None), True

    async def interrupted(self, probe_id: UUID, node_id: str) -> None:
        """End a share whose lines the tier has lost, if it has not ended. Numbering begins anew (S6)."""
        reason = ProbeReason.SERVER_RESTARTED
        outcome = Outcome(rules.state_of(reason), reason, _LOST)
        closed = Closed(outcome, None, truncated=False)
        if await self._end((probe_id, node_id), closed, (), epoch=short_id(8)):
            log.warning("probe.interrupted", probe_id=str(probe_id), node=node_id)

    async def _tell_end(self, probe_id: UUID, ending: Ending) -> None:
        with contextlib.suppress(TierUnavailable):  # else the watch tells it
            await self.relay.finish(probe_id, ending)
        self.metrics.finished.labels(ending.state, ending.reason or "").inc()
        log.info("probe.finished", probe_id=str(probe_id), state=ending.state, reason=ending.reason)

    async def _announce(self, probe_id: UUID) -> None:
        with contextlib.suppress(TierUnavailable):
            if await self.relay.holds(probe_id):
                summary = await self.reader.summary(probe_id)
                await self.relay.announce(probe_id, summary.model_dump(mode="json"))

    async def _may_hold(self, probe_id: UUID) -> bool:
        try:
            return await self.relay.holds(probe_id)
        except TierUnavailable:
            return True


def start_frame(probe: Probe, share: ProbeNode) -> ProbeStart:
    """The frame that asks an agent for its share."""
    return ProbeStart(
        probe_id=probe.id,
        tool=Tool(probe.tool),
        target=probe.target,
        options=ProbeOptions.model_validate(probe.options),
        limits=ProbeLimits.model_validate(probe.limits),
        targets=TargetRules.model_validate(share.targets),
    )
