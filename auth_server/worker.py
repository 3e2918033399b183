"""Background work of auth_server in a process of its own."""

from __future__ import annotations

import asyncio

from prometheus_client import CollectorRegistry

from auth_server.passkeys import tasks as passkey_tasks
from auth_server.resources import open_resources
from auth_server.sessions import tasks as session_tasks
from auth_server.settings import AuthSettings
from shared.kernel.loops import run_loop
from shared.web.metrics import CountedLoops


async def work(settings: AuthSettings) -> None:
    """Run the loops that need no browser's request, until cancelled."""
    observer = CountedLoops(CollectorRegistry())
    async with open_resources(settings) as resources, asyncio.TaskGroup() as group:
        for loop in (*session_tasks.loops(resources), *passkey_tasks.loops(resources)):
            group.create_task(run_loop(loop, observer), name=loop.name)
