"""What a command prints, read by threads that may wait for it, while the event loop serves others.

A pipe that holds a megabyte, taken in one go, costs a fraction of the same bytes through the event loop.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import Any, TypeVar

from shared.kernel.pipes import WIDE_BYTES, widen

Result = TypeVar("Result")
#: Gives what was printed next, and nothing at the end.
Read = Callable[[], bytes]


def open_pipe() -> tuple[int, int]:
    """The ends to read and to write."""
    ours, theirs = os.pipe()
    widen(theirs)
    return ours, theirs


class Printing:
    """The output of one running command; `stop` ends the command, and with it the output."""

    def __init__(self, descriptor: int, time_limit: timedelta, stop: Callable[[], object]) -> None:
        """Nothing is read yet."""
        self._descriptor = descriptor
        self._left = time_limit.total_seconds()
        self._stop = stop
        self._late = False
        #: Waits until the command has ended; fails where it ended badly, and with TimeoutError.
        self.finish: Callable[[], Awaitable[None]] = _at_once
        self._turn: asyncio.Future[Any] | None = None

    async def take(self, work: Callable[[Read], Result]) -> Result:
        """What the work, in a thread, makes of what it reads. Raises TimeoutError.

        Only the time that is spent here counts: whoever takes the results may be slow.
        """
        loop = asyncio.get_running_loop()
        began = loop.time()
        timer = loop.call_later(max(self._left, 0), self._end)
        turn = asyncio.ensure_future(asyncio.to_thread(work, self._read))
        self._turn = turn
        try:
            result = await asyncio.shield(turn)
        finally:
            timer.cancel()
            self._left -= loop.time() - began
        if self._late:
            raise TimeoutError
        return result

    @property
    def left(self) -> float:
        """Seconds that the command may still take."""
        return max(self._left, 0)

    async def settle(self) -> None:
        """Wait for a thread that still reads; the command is no more, so it meets the end at once."""
        if self._turn is not None and not self._turn.done():
            await asyncio.wait([self._turn])
        if self._turn is not None and not self._turn.cancelled():
            self._turn.exception()

    def _end(self) -> None:
        self._late = True
        self._stop()

    def _read(self) -> bytes:
        return os.read(self._descriptor, WIDE_BYTES)


async def _at_once() -> None:
    """Nothing to wait for."""
