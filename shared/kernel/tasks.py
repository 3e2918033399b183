"""Ending background tasks for certain."""

from __future__ import annotations

import asyncio
from typing import Any

#: Longer than any task takes to leave in order.
_AGAIN_SECONDS = 5.0


async def end(*tasks: asyncio.Task[Any], again_seconds: float = _AGAIN_SECONDS) -> None:
    """Cancel the tasks, and return when every one has ended, whatever it ended with.

    A cancellation can be lost on the way: ``asyncio.wait_for`` of Python 3.11 keeps it to itself when what
    it waits for is ready at the same moment, and the clients of both tiers send each command through it.
    A task that goes on is therefore cancelled again.
    """
    left = set(tasks)
    while left:
        for task in left:
            task.cancel()
        _, left = await asyncio.wait(left, timeout=again_seconds)
    for task in tasks:
        if not task.cancelled():
            task.exception()  # looked at, so that nobody is told that it was never retrieved
