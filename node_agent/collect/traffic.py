"""Samples of all counters, one each half minute, however slow something else on the host is."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

import structlog

from node_agent.apply.commands import HostTool, find_tool, run
from node_agent.apply.links.observing import WireGuardOnHost, parse_wireguard
from node_agent.collect.counters import Epochs, InterfaceCounters, read_interfaces, readings
from node_agent.threads import in_thread
from shared.kernel.clock import Clock
from shared.kernel.errors import AppError
from shared.protocol.reports import TrafficSample

if TYPE_CHECKING:
    from node_agent.connection.reports import Reports

log = structlog.get_logger(__name__)

INTERVAL_SECONDS = 30.0


class TrafficWatch:
    """Takes samples and hands them over; one that is not sent before the next is worth nothing."""

    def __init__(
        self,
        reports: Reports,
        now: Clock,
        *,
        stream: str,
        boot_id: str,
        read: Callable[[], list[InterfaceCounters]] = read_interfaces,
    ) -> None:
        """`stream` names this life of the agent."""
        self._reports = reports
        self._now = now
        self._stream = stream
        self._boot_id = boot_id
        self._read = read
        self._epochs = Epochs(boot_id)
        self._sequence = 0

    async def run(self, interval: float = INTERVAL_SECONDS) -> None:
        """Sample until cancelled."""
        while True:
            try:
                self._reports.put(await self.sample())
            except Exception as error:  # noqa: BLE001 - the next one may be better
                log.warning("traffic.sample_failed", error=type(error).__name__)
            await asyncio.sleep(interval)

    async def sample(self) -> TrafficSample:
        """One look at every counter."""
        tunnels = await _tunnels()
        interfaces = await in_thread(self._read)
        self._sequence += 1
        return TrafficSample(
            stream=self._stream,
            sequence=self._sequence,
            taken_at=self._now(),
            monotonic_seconds=time.monotonic(),
            boot_id=self._boot_id,
            counters=readings(interfaces, tunnels, self._epochs),
        )


async def _tunnels() -> Mapping[str, WireGuardOnHost] | None:
    """What WireGuard counts; None where it does not answer this time."""
    if find_tool(HostTool.WG) is None:
        return {}
    try:
        return parse_wireguard(await run(HostTool.WG, ("show", "all", "dump")))
    except AppError as error:
        log.warning("traffic.peers_unseen", error=error.code)
        return None
