"""Readings that the heartbeat can have at once, however slow it is to take them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import structlog

from node_agent.collect.host import HostSample, sample_host
from node_agent.threads import in_thread

log = structlog.get_logger(__name__)

_INTERVAL_SECONDS = 10.0


class Collection:
    """Keeps the newest sample; a collector that hangs leaves the old one standing."""

    def __init__(self, collect: Callable[[], HostSample] = sample_host) -> None:
        self._collect = collect
        self.latest = HostSample()

    async def run(self) -> None:
        """Refresh until cancelled, in a thread of its own each time."""
        while True:
            try:
                self.latest = await in_thread(self._collect)
            except Exception as error:  # noqa: BLE001 - the next round may do better
                log.warning("host.sample_failed", error=type(error).__name__)
            await asyncio.sleep(_INTERVAL_SECONDS)
