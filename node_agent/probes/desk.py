"""Where the server's wishes for probes arrive: start once, cancel, refuse when busy, end all."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING

import structlog

from node_agent.probes.outbox import Outbox
from node_agent.probes.running import ProbeRun, Surroundings
from shared.kernel.tasks import end
from shared.protocol.frames import ProbeDone, ProbeStart
from shared.protocol.probes import ProbeLimits, ProbeReason

if TYPE_CHECKING:
    from uuid import UUID

    from node_agent.settings import AgentSettings

log = structlog.get_logger(__name__)

#: With the flush and the close, SIGTERM ends the agent within 3 s.
_STOP_SECONDS = 1.6


@dataclass(frozen=True, slots=True)
class _Running:
    run: ProbeRun
    task: asyncio.Task[None]


class ProbeDesk:
    """Runs the probes of this node. They go on while the link to the server is down."""

    def __init__(self, settings: AgentSettings, outbox: Outbox, surroundings: Surroundings) -> None:
        self._settings = settings
        self._outbox = outbox
        self._surroundings = surroundings
        self._running: dict[UUID, _Running] = {}

    @property
    def running(self) -> int:
        """How many tools run now."""
        return len(self._running)

    def start(self, wanted: ProbeStart) -> None:
        """Start the probe once: asked again, what is known of it is sent again."""
        if wanted.probe_id in self._outbox:
            self._outbox.repeat(wanted.probe_id)
            return
        parcel = self._outbox.open(wanted.probe_id)
        if self.running >= self._settings.concurrent_probes:
            detail = f"The node already runs {self.running} probes."
            parcel.finish(ProbeDone(probe_id=wanted.probe_id, error=ProbeReason.BUSY, detail=detail))
            return
        run = ProbeRun(wanted, self._capped(wanted.limits), parcel, self._surroundings)
        run.has_room = lambda: not self._outbox.full
        task = asyncio.create_task(run.run(), name=f"probe {wanted.probe_id}")
        self._running[wanted.probe_id] = _Running(run, task)
        task.add_done_callback(lambda _: self._running.pop(wanted.probe_id, None))
        log.info("probe.started", probe=str(wanted.probe_id), tool=wanted.tool.value)

    def cancel(self, probe_id: UUID) -> None:
        """End the probe early; its `probe_done` follows. One that is not known here is answered too."""
        if running := self._running.get(probe_id):
            running.run.cancel()
        elif probe_id in self._outbox:
            self._outbox.repeat(probe_id)
        else:
            done = ProbeDone(probe_id=probe_id, error=ProbeReason.CANCELLED, detail="Not running here.")
            self._outbox.open(probe_id).finish(done)

    def refuse(self, probe_id: UUID) -> None:
        """The server wants nothing more of the probe: stop it and forget it."""
        if running := self._running.get(probe_id):
            running.run.cancel()
        self._outbox.forget(probe_id)

    async def stop(self) -> None:
        """End every tool; returns when all process groups are gone."""
        running = list(self._running.values())
        for each in running:
            each.run.cancel("The agent was stopped.")
        if not running:
            return
        tasks = [each.task for each in running]
        _, left = await asyncio.wait(tasks, timeout=_STOP_SECONDS)
        await end(*left)
        await asyncio.gather(*tasks, return_exceptions=True)

    def _capped(self, wanted: ProbeLimits) -> ProbeLimits:
        """The node's own bounds hold whatever the server asks for."""
        own = self._settings
        return ProbeLimits(
            seconds=min(wanted.seconds, own.greatest_probe_seconds),
            lines=min(wanted.lines, own.greatest_probe_lines),
            line_bytes=min(wanted.line_bytes, own.greatest_line_bytes),
            total_bytes=min(wanted.total_bytes, own.greatest_probe_bytes),
        )
