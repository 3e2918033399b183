"""The runtime state for as long as an application lives: checked, announced, swept, closed."""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import structlog

from shared.kernel.loops import running
from shared.runtime_state.creation import open_client
from shared.runtime_state.locations import MemoryLocation
from shared.runtime_state.settings import check_deployment
from shared.runtime_state.sweeper import SweepObserver, sweep_loop

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from shared.runtime_state.facade import RedisRuntimeClient
    from shared.runtime_state.locations import Location
    from shared.runtime_state.settings import Deployment, RuntimeStateSettings

log = structlog.get_logger(__name__)


@asynccontextmanager
async def serving_runtime_state(
    settings: RuntimeStateSettings, deployment: Deployment
) -> AsyncIterator[RedisRuntimeClient]:
    """Refuse what must not start, then serve. No server is asked yet: it may be down at our start."""
    location = check_deployment(settings, deployment)
    client = open_client(location, prefix=settings.key_prefix, limits=settings.memory_limits)
    _announce(location, client, settings)
    loops = [sweep_loop(client, settings.sweep_interval)] if client.ephemeral else []
    try:
        async with running(loops, SweepObserver(client.sweeps)):
            yield client
    finally:
        await client.aclose()


def _announce(location: Location, client: RedisRuntimeClient, settings: RuntimeStateSettings) -> None:
    """Say what serves, without address, password or key."""
    in_memory = isinstance(location, MemoryLocation)
    log.info(
        "runtime_state.startup",
        backend=client.backend_name,
        instance=location.name if isinstance(location, MemoryLocation) else None,
        ephemeral=client.ephemeral,
        single_process=in_memory,
        sweep_interval_seconds=settings.sweep_interval_seconds if in_memory else None,
    )
