"""Whether a port answers, found out by asking it as a client does: one that only accepts looks well."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from shared.kernel.loops import Loop
from shared.listeners.listener import Listener

_INTERVAL = timedelta(seconds=10)
#: One look without an answer may be a busy host, or a start that is not over yet.
_TOLERATED = 1
#: An address that means all of a family cannot be connected to everywhere.
_LOOPBACK = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # noqa: S104 - what an operator may write


@dataclass(frozen=True, slots=True)
class PortReport:
    """What the last looks at one port found."""

    name: str
    answers: bool
    facts: dict[str, Any]


@dataclass(slots=True)
class PortWatch:
    """Asks a listener at each of its addresses, again and again."""

    name: str
    listener: Listener
    #: Something that is answered with at least a byte, or by closing the connection.
    question: Callable[[], bytes]
    within: timedelta = timedelta(seconds=5)
    _failures: int = field(init=False, default=0)
    _why: str | None = field(init=False, default=None)

    def loops(self) -> list[Loop]:
        """The looks; none where the port is off."""
        if self.listener.settings.port is None:
            return []
        limit = self.within * (len(self.listener.settings.hosts) + 1)
        return [Loop(f"{self.listener.name}.watch", self.look, interval=_INTERVAL, time_limit=limit)]

    def report(self) -> PortReport:
        """The state as of the last looks; a port that was not asked twice yet is believed."""
        answers = self._failures <= _TOLERATED
        facts: dict[str, Any] = {"port": self.listener.port}
        return PortReport(self.name, answers, facts if answers else {**facts, "reason": self._why})

    async def look(self) -> None:
        """Ask once at every address."""
        self._why = await self._objection()
        self._failures = self._failures + 1 if self._why else 0

    async def _objection(self) -> str | None:
        if not self.listener.addresses:
            return "nothing listens"
        for host, port in self.listener.addresses:
            try:
                async with asyncio.timeout(self.within.total_seconds()):
                    await self._ask(_LOOPBACK.get(host, host), port)
            except TimeoutError:
                return f"no answer at {host} within {self.within.total_seconds():g} s"
            except OSError as error:
                return f"no answer at {host}: {error.strerror or type(error).__name__}"
        return None

    async def _ask(self, host: str, port: int) -> None:
        reader, writer = await asyncio.open_connection(host, port)
        try:
            writer.write(self.question())
            await reader.read(1)
        finally:
            writer.transport.abort()
