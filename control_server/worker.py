"""Background work of control_server in a process of its own."""

from __future__ import annotations

import asyncio

from prometheus_client import CollectorRegistry

from control_server.operators import tasks as operator_tasks
from control_server.resources import open_resources
from control_server.settings import ControlSettings
from shared.kernel.loops import run_loop
from shared.web.metrics import CountedLoops


async def work(settings: ControlSettings) -> None:
    """Run the loops that need no agent connection, until cancelled."""
    observer = CountedLoops(CollectorRegistry())
    async with open_resources(settings) as resources, asyncio.TaskGroup() as group:
        for loop in operator_tasks.loops(resources):
            group.create_task(run_loop(loop, observer), name=loop.name)
