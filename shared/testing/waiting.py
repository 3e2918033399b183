"""Waiting for a condition instead of for a time."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable, Callable

_PAUSE_SECONDS = 0.01


class NeverCameTrue(AssertionError):
    """The condition did not come true within the bound, which is ten times wider than it needs."""


async def wait_until(condition: Callable[[], bool | Awaitable[bool]], *, seconds: float = 20) -> None:
    """Return once `condition` answers true. Raises NeverCameTrue after `seconds`."""
    loop = asyncio.get_running_loop()
    deadline = loop.time() + seconds
    while True:
        answer = condition()
        if inspect.isawaitable(answer):
            answer = await answer
        if answer:
            return
        if loop.time() > deadline:
            raise NeverCameTrue(inspect.getsource(condition).strip())
        await asyncio.sleep(_PAUSE_SECONDS)
