"""Single flight: many who want the same at once wait for one who fetches it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from shared.kernel.tasks import end

_REMEMBERED = 1_000


@dataclass(slots=True)
class _Flight:
    task: asyncio.Task[Any]
    waiting: int = 0


class Flights:
    """The flights of one process. Each runs in a task of its own, so who started it may leave."""

    def __init__(self) -> None:
        self._flights: dict[str, _Flight] = {}
        self._tasks: set[asyncio.Task[Any]] = set()
        self._landings: dict[str, int] = {}
        self._count = 0

    def landing(self, name: str) -> int:
        """Identifies the last flight of this name that landed; 0 when none is remembered."""
        return self._landings.get(name, 0)

    async def join(self, name: str, work: Callable[[], Awaitable[Any]]) -> Any:
        """Wait for the flight of this name, starting it if there is none. The last to leave ends it."""
        flight = self._flights.get(name) or self._start(name, work)
        flight.waiting += 1
        try:
            return await asyncio.shield(flight.task)
        finally:
            flight.waiting -= 1
            if not flight.waiting and not flight.task.done():
                self._forget(name, flight)
                flight.task.cancel()

    def launch(self, name: str, work: Callable[[], Awaitable[Any]]) -> None:
        """Start a flight that nobody has to wait for; nothing happens when there is one."""
        if name not in self._flights:
            flight = self._start(name, work)
            flight.waiting += 1  # stands for nobody, so that a caller who joins and leaves does not end it

    def leave_behind(self, name: str) -> None:
        """Let whoever comes from now on start anew: what the present flight brings may be out of date."""
        self._flights.pop(name, None)

    async def aclose(self) -> None:
        """End every flight and wait for its end."""
        await end(*self._tasks)

    def _start(self, name: str, work: Callable[[], Awaitable[Any]]) -> _Flight:
        task: asyncio.Task[Any] = asyncio.create_task(_run(work), name="cache_load")
        flight = _Flight(task)
        self._flights[name] = flight
        self._tasks.add(task)
        task.add_done_callback(lambda _task: self._ended(name, flight))
        return flight

    def _ended(self, name: str, flight: _Flight) -> None:
        self._tasks.discard(flight.task)
        self._forget(name, flight)
        self._count += 1
        self._landings.pop(name, None)
        self._landings[name] = self._count
        if len(self._landings) > _REMEMBERED:
            del self._landings[next(iter(self._landings))]
        if not flight.task.cancelled():
            flight.task.exception()  # seen, even when nobody waited for it

    def _forget(self, name: str, flight: _Flight) -> None:
        if self._flights.get(name) is flight:
            del self._flights[name]


async def _run(work: Callable[[], Awaitable[Any]]) -> Any:
    return await work()
