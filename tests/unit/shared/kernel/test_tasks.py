"""Ending background tasks."""

from __future__ import annotations

import asyncio

import pytest

from shared.kernel.tasks import end


class Deaf:
    """Work that does not hear the first cancellations, as a client library may lose them."""

    def __init__(self, losses: int) -> None:
        self.losses = losses
        self.heard = 0

    async def run(self) -> None:
        while True:
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                self.heard += 1
                if self.heard > self.losses:
                    raise


@pytest.mark.parametrize("losses", [0, 1, 3])
async def test_a_lost_cancellation_is_repeated_until_the_task_ends(losses: int) -> None:
    deaf = Deaf(losses)
    task = asyncio.create_task(deaf.run())
    await asyncio.sleep(0)
    await end(task, again_seconds=0.01)
    assert (task.cancelled(), deaf.heard) == (True, losses + 1)


async def test_a_task_that_failed_or_was_done_ends_nothing_else() -> None:
    async def fail() -> None:
        raise ValueError

    failed, done = asyncio.create_task(fail()), asyncio.create_task(asyncio.sleep(0, "kept"))
    await asyncio.wait({failed, done})
    await end(failed, done)
    assert done.result() == "kept"


async def test_nothing_to_end() -> None:
    await end()
