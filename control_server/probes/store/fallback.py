"""The kv tier where it answers at a probe's start, else this process: one place for all of a probe's life."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from control_server.probes.schemas import Appended, Closed, Ending, Outcome, ProbeJob, Snapshot
from control_server.probes.store.in_process import ProbeRelay
from control_server.probes.store.on_kv import KvRelay
from control_server.probes.store.relay import Following, Relay
from shared.cache import TierUnavailable
from shared.protocol.frames import OutputLine


@dataclass(frozen=True, slots=True)
class RelayWithFallback:
    """Raises TierUnavailable only for a probe that is on the tier while the tier does not answer."""

    tier: KvRelay
    here: ProbeRelay

    async def open(self, job: ProbeJob) -> None:
        """Begin a probe on the tier, or here where the tier cannot take it."""
        try:
            await self.tier.open(job)
        except TierUnavailable:
            await self.here.open(job)

    async def holds(self, probe_id: UUID) -> bool:
        """Whether the probe is known in either place."""
        return await (await self._place(probe_id)).holds(probe_id)

    async def unfinished(self) -> list[UUID]:
        """Probes without an ending that this process has to do with."""
        return [*await self.here.unfinished(), *await self.tier.unfinished()]

    async def append(self, probe_id: UUID, node: str, lines: Sequence[OutputLine]) -> Appended:
        """Take a batch of a node where the probe is kept."""
        return await (await self._place(probe_id)).append(probe_id, node, lines)

    async def close_share(self, probe_id: UUID, node: str, outcome: Outcome) -> Closed | None:
        """Take no more lines of the node."""
        return await (await self._place(probe_id)).close_share(probe_id, node, outcome)

    async def closed_share(self, probe_id: UUID, node: str) -> Closed | None:
        """How the node's share was closed, if it was."""
        return await (await self._place(probe_id)).closed_share(probe_id, node)

    async def announce(self, probe_id: UUID, data: dict[str, Any]) -> None:
        """Tell viewers of a change."""
        await (await self._place(probe_id)).announce(probe_id, data)

    async def finish(self, probe_id: UUID, ending: Ending) -> bool:
        """End the probe once."""
        return await (await self._place(probe_id)).finish(probe_id, ending)

    async def read(self, probe_id: UUID, after: int = 0) -> Snapshot | None:
        """The lines with a greater number, and the ending if there is one."""
        return await (await self._place(probe_id)).read(probe_id, after)

    @asynccontextmanager
    async def subscribe(self, probe_id: UUID) -> AsyncIterator[Following | None]:
        """A viewer's queue, where the probe is kept."""
        async with (await self._place(probe_id)).subscribe(probe_id) as following:
            yield following

    async def sweep(self) -> None:
        """Free what ended a while ago in this process."""
        await self.here.sweep()

    async def drop(self, probe_id: UUID) -> None:
        """Forget a probe at once."""
        await (await self._place(probe_id)).drop(probe_id)

    def viewers(self) -> int:
        """Open subscriptions of this process."""
        return self.here.viewers() + self.tier.viewers()

    async def _place(self, probe_id: UUID) -> Relay:
        return self.here if await self.here.holds(probe_id) else self.tier
