"""What idle workers wait on. A ring is only a hint: a lost one costs a poll, never a job."""

from __future__ import annotations

import asyncio
from typing import Protocol


class Doorbell(Protocol):
    """Wakes a worker that waits for a job."""

    @property
    def key(self) -> str:
        """The list that the enqueue script rings on the server; empty when it rings in the process."""

    def ring(self) -> None:
        """Wake one waiting worker of this process, where that is how it works."""

    async def wait(self, seconds: float) -> None:
        """Return at a ring, or after so many seconds."""


class LocalDoorbell:
    """Rings inside one process: enough for Lite, where enqueuing and working share it."""

    key = ""

    def __init__(self) -> None:
        """Start silent."""
        self._rings: asyncio.Queue[None] = asyncio.Queue(maxsize=64)

    def ring(self) -> None:
        """Leave a ring for the next waiter; more than the waiters could use are dropped."""
        if not self._rings.full():
            self._rings.put_nowait(None)

    async def wait(self, seconds: float) -> None:
        """Return at a ring, or after so many seconds."""
        try:
            async with asyncio.timeout(seconds):
                await self._rings.get()
        except TimeoutError:
            return
