"""Named background loops: interval, jitter, time limit; one that dies is restarted and counted."""

from __future__ import annotations

import asyncio
import random
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Protocol

from shared.kernel.tasks import end

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Sequence


class LoopObserver(Protocol):
    """Told of each pass; counts and logs it."""

    def finished(self, name: str, seconds: float) -> None:
        """A pass ended well after so many seconds."""

    def failed(self, name: str, error: BaseException) -> None:
        """A pass ended with an error; the loop goes on."""


@dataclass(frozen=True, slots=True)
class Loop:
    """One pass of work, repeated for as long as the process lives."""

    name: str
    run_once: Callable[[], Awaitable[object]]
    interval: timedelta
    time_limit: timedelta = timedelta(seconds=30)
    #: The pause varies by this share of the interval, so replicas do not act in step.
    jitter: float = 0.1
    #: A pass that is cancelled leaves in order within so long; then it is cancelled again.
    leaves_within: timedelta = timedelta(seconds=5)

    def pause(self) -> float:
        """Seconds until the next pass."""
        spread = random.uniform(-self.jitter, self.jitter)  # noqa: S311 - not a secret
        return self.interval.total_seconds() * (1 + spread)


async def run_loop(loop: Loop, observer: LoopObserver) -> None:
    """Repeat the loop until cancelled; an error or an overrun never ends it, a cancellation always does."""
    clock = asyncio.get_running_loop().time
    while True:
        began = clock()
        try:
            async with asyncio.timeout(loop.time_limit.total_seconds()):
                await loop.run_once()
        except Exception as error:  # noqa: BLE001 - reported, and the loop goes on
            observer.failed(loop.name, error)
        else:
            observer.finished(loop.name, clock() - began)
        check_cancelled()
        await asyncio.sleep(loop.pause())


def check_cancelled() -> None:
    """End the calling task if it was cancelled and did not notice. For whatever repeats until cancelled.

    On Python 3.11 `asyncio.wait_for`, which libraries use, loses a cancellation that comes as its work is
    done (gh-86296); a loop would go on for ever, and whoever waits for its end would too.
    """
    task = asyncio.current_task()
    if task is not None and task.cancelling():
        raise asyncio.CancelledError


@asynccontextmanager
async def running(loops: Sequence[Loop], observer: LoopObserver) -> AsyncIterator[None]:
    """Run the loops while the body runs; stop them all at its end."""
    tasks = [(asyncio.create_task(run_loop(loop, observer), name=loop.name), loop) for loop in loops]
    try:
        yield
    finally:
        ends = [end(task, again_seconds=loop.leaves_within.total_seconds()) for task, loop in tasks]
        await asyncio.gather(*ends)
