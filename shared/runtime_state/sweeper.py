"""The background sweep of the memory back end: it fails aloud, and never stops by itself."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import structlog

from shared.kernel.loops import Loop

if TYPE_CHECKING:
    from datetime import timedelta

    from shared.runtime_state.facade import RedisRuntimeClient
    from shared.runtime_state.tally import SweepTally

log = structlog.get_logger(__name__)

#: Between two passes, so that a large sweep leaves most of the processor to others.
REST_SECONDS = 0.02
#: Passes in a row: far more than a full budget of bytes needs, and well within the loop's time limit.
PASSES = 256


def sweep_loop(client: RedisRuntimeClient, interval: timedelta) -> Loop:
    """Sweep at one interval, also after a failure. There is one process, so nothing to spread by jitter."""
    return Loop("runtime-state-sweep", partial(sweep_completely, client), interval, jitter=0.0)


async def sweep_completely(client: RedisRuntimeClient) -> None:
    """Pass after pass until all that has expired is gone; what is left after `PASSES` waits an interval."""
    for _ in range(PASSES):
        await client.sweep_expired()
        if client.sweeps.complete:
            return
        await asyncio.sleep(REST_SECONDS)


@dataclass(frozen=True, slots=True)
class SweepObserver:
    """Logs and counts failures; what ends well is counted where it happens."""

    sweeps: SweepTally

    def finished(self, name: str, seconds: float) -> None:
        """Nothing to add."""

    def failed(self, name: str, error: BaseException) -> None:
        # The type alone: an error's text could carry a key.
        self.sweeps.failed()
        log.error(
            "runtime_state.sweep.failed", loop=name, error=type(error).__name__, failures=self.sweeps.failures
        )
