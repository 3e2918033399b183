"""Background work of registry_server in a process of its own."""

from __future__ import annotations

import asyncio

from prometheus_client import CollectorRegistry

from registry_server.metrics import RegistryMetrics
from registry_server.mirror import tasks as mirror_tasks
from registry_server.resources import open_resources
from registry_server.settings import RegistrySettings
from shared.kernel.loops import run_loop
from shared.web.metrics import CountedLoops


async def work(settings: RegistrySettings) -> None:
    """Follow upstream until cancelled."""
    counted = CollectorRegistry()
    observer = CountedLoops(counted)
    async with open_resources(settings) as resources, asyncio.TaskGroup() as group:
        for loop in mirror_tasks.loops(resources.mirror(RegistryMetrics.in_registry(counted))):
            group.create_task(run_loop(loop, observer), name=loop.name)
