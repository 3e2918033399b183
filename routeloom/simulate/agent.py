"""The agent of a simulated node: when it says what, and what it says again after its link was lost."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from websockets.exceptions import ConnectionClosed

from routeloom.simulate.plan import PREFIXES_EVERY, SNAPSHOT_EVERY
from routeloom.simulate.socket import AgentSocket
from shared.protocol.fleet import RuntimeSnapshot
from shared.protocol.reports import (
    PrefixAcknowledged,
    PrefixChange,
    PrefixReport,
    TrafficSample,
    pack_changes,
)

if TYPE_CHECKING:
    from routeloom.simulate.node import SimulatedNode
    from shared.protocol.frames import ErrorFrame


@dataclass
class Told:
    """What the server knows of the routes of one life of the agent."""

    stream: str = ""
    sequence: int = 0
    #: The last report that was acknowledged; None: the whole is to be told.
    base: int | None = None
    told_at: int = -PREFIXES_EVERY


@dataclass
class SimulatedAgent:
    """Speaks for one node while it runs."""

    node: SimulatedNode
    token: str = field(repr=False)
    server: str
    runs: bool = True
    refusals: list[ErrorFrame] = field(default_factory=list)
    _socket: AgentSocket | None = None
    _snapshot_at: int = -SNAPSHOT_EVERY
    _routes: Told = field(default_factory=Told)
    #: The last of each, said again after a break: whoever cannot know whether it arrived repeats it.
    _last: list[TrafficSample | RuntimeSnapshot] = field(default_factory=list)

    async def cut(self) -> None:
        """Lose the link."""
        if self._socket is not None:
            await self._socket.cut()
            self._forget_socket()

    async def stop(self) -> None:
        """The process ends: what it was about to repeat is gone with it."""
        self.runs = False
        self._last.clear()
        if self._socket is not None:
            await self._socket.close()
            self._forget_socket()

    async def report(self, at: int) -> None:
        """Everything that is due now, and wait until the server has acted upon it."""
        frames: list[TrafficSample | RuntimeSnapshot] = [self.node.sample(at)]
        if at - self._snapshot_at >= SNAPSHOT_EVERY or self._socket is None or self._socket.snapshot_wanted:
            frames.append(self.node.snapshot(at))
        try:
            await self._say(at, frames)
        except ConnectionClosed:
            # The server went away meanwhile: everything once more, as it was.
            self._forget_socket()
            await self._say(at, frames)
        self._last = frames
        self.node.truth.heard(self.node.name, at)

    async def _say(self, at: int, frames: list[TrafficSample | RuntimeSnapshot]) -> None:
        socket = await self._connected()
        await socket.send(self.node.heartbeat(at))
        for frame in frames:
            await socket.send(frame)
        await socket.settle()
        for frame in frames:
            if isinstance(frame, TrafficSample):
                self.node.truth.sampled(self.node.name, frame, at)
            else:
                self._snapshot_at, socket.snapshot_wanted = at, False
                self.node.sessions_told = len(self.node.up)
        if at - self._routes.told_at >= PREFIXES_EVERY or self._routes.stream != self.node.stream:
            await self._tell_routes(socket, at)

    async def _connected(self) -> AgentSocket:
        if self._socket is None:
            self._socket = await AgentSocket.open(self.server, self.token, self.node.boot_id)
            for frame in self._last:
                await self._socket.send(frame)
        return self._socket

    def _forget_socket(self) -> None:
        if self._socket is not None:
            self.refusals += self._socket.refusals
        self._socket = None

    # --- routes ------------------------------------------------------------------------------------

    async def _tell_routes(self, socket: AgentSocket, at: int) -> None:
        if self._routes.stream != self.node.stream:
            self._routes = Told(self.node.stream)
        table, up = self.node.table, self.node.up
        pieces = table.told(table.changed, up)
        if self._routes.base is not None and len(pieces) == 1:
            answer = await self._tell(socket, at, pieces[0])
            if answer is None or not answer.resynchronise:
                return
        self._routes.base = None
        pieces = table.told(table.known(up), up)
        for place, piece in enumerate(pieces):
            shape = {"begins": place == 0, "complete": place == len(pieces) - 1}
            await self._tell(socket, at, piece, **shape)

    async def _tell(
        self, socket: AgentSocket, at: int, piece: list[PrefixChange], **shape: bool
    ) -> PrefixAcknowledged | None:
        told = self._routes
        report = PrefixReport(
            stream=told.stream,
            sequence=told.sequence + 1,
            base=told.base or 0,
            taken_at=self.node.wall(at),
            daemon_started_at=self.node.wall(self.node.daemon_started_at),
            count=len(piece),
            payload=pack_changes(piece),
            **shape,
        )
        told.sequence += 1
        await socket.send(report)
        answer = await socket.acknowledged(report.sequence)
        if answer is not None and not answer.resynchronise:
            told.told_at, told.base = at, report.sequence
            self.node.table.changed.clear()
        return answer

    @property
    def refused(self) -> list[ErrorFrame]:
        """Everything that the server did not take."""
        return [*self.refusals, *(self._socket.refusals if self._socket else [])]
