"""Background work of auth_server in a process of its own."""

from __future__ import annotations

import asyncio

from auth_server.resources import open_resources
from auth_server.settings import AuthSettings


async def work(settings: AuthSettings) -> None:
    """Wait until cancelled: no loop of this service needs a process of its own yet."""
    async with open_resources(settings):
        await asyncio.Event().wait()
