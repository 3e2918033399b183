"""Waiting for a condition, never for a time."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable


async def eventually(condition: Callable[[], Awaitable[bool]], within: float = 20.0) -> None:
    """Return as soon as the condition holds; fail when it does not in time."""
    async with asyncio.timeout(within):
        while not await condition():
            await asyncio.sleep(0.01)
