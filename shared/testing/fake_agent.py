"""A scripted agent on a real WebSocket, for tests of the control server.

It says and does only what the test tells it to, misbehaviour included:

    async with FakeAgent(url, token) as agent:
        await agent.hello()
        start = await agent.expect(ProbeStart)
        await agent.accept(start.probe_id)
        await agent.output(start.probe_id, "one", "two")
        await agent.done(start.probe_id)
        await agent.expect(ProbeStored)
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Self, TypeVar

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed

from shared import __version__
from shared.protocol.base import Frame
from shared.protocol.frames import (
    MAX_BATCH_LINES,
    SERVER_FRAME,
    SERVER_FRAME_TYPES,
    AgentHello,
    Capabilities,
    Heartbeat,
    OutputLine,
    ProbeAccepted,
    ProbeDone,
    ProbeOutput,
    ServerHello,
)
from shared.protocol.probes import OutputStream, ProbeReason, Tool

if TYPE_CHECKING:
    from types import TracebackType
    from uuid import UUID

Received = TypeVar("Received", bound=Frame)

#: Waiting longer than this for anything is a failure of the test.
SECONDS = 20.0
SOCKET_PATH = "/api/v1/agent/ws"
ALL_TOOLS = Capabilities(tools={tool.value: "made up" for tool in Tool})


class FakeAgent:
    """One agent's connection. `received` keeps every frame in order, of unknown types as plain objects."""

    def __init__(self, server_url: str, token: str | None) -> None:
        """Take the server's `http(s)` address, or the whole `ws(s)` one, and the agent token to show."""
        scheme, _, rest = server_url.rstrip("/").partition("://")
        self.url = server_url if scheme.startswith("ws") else f"ws{scheme[4:]}://{rest}{SOCKET_PATH}"
        self.received: list[Frame | dict[str, Any]] = []
        self.close_code: int | None = None
        self.close_reason = ""
        self._token = token
        self._seen = 0
        self._next_seq: dict[UUID, int] = {}
        self._changed = asyncio.Condition()
        self._socket: ClientConnection | None = None
        self._reading: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Self:
        """Connect; nothing is sent yet."""
        headers = {"Authorization": f"Bearer {self._token}"} if self._token is not None else {}
        self._socket = await connect(
            self.url,
            additional_headers=headers,
            compression=None,
            proxy=None,
            ping_interval=None,
            close_timeout=1,
            max_size=None,
        )
        self._reading = asyncio.create_task(self._read())
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close the link in the ordinary way, if it is still there."""
        await self.close()

    @property
    def socket(self) -> ClientConnection:
        """The connection itself, for faults that nothing here covers."""
        assert self._socket is not None, "enter the context first"
        return self._socket

    # --- saying ------------------------------------------------------------------------------------

    async def send(self, frame: Frame | dict[str, Any] | str | bytes) -> None:
        """Send a frame, any object as JSON, or raw text or bytes."""
        if isinstance(frame, Frame):
            frame = frame.model_dump_json()
        await self.socket.send(json.dumps(frame) if isinstance(frame, dict) else frame)

    async def hello(self, **fields: Any) -> ServerHello:
        """Greet and wait for the server's greeting."""
        values = {"agent_version": __version__, "boot_id": "made-up-boot", "capabilities": ALL_TOOLS}
        await self.send(AgentHello(**{**values, **fields}))
        return await self.expect(ServerHello)

    async def heartbeat(self, **fields: Any) -> None:
        """Say that the agent works."""
        await self.send(Heartbeat(**{"agent_version": __version__, "uptime_seconds": 1.0, **fields}))

    async def accept(self, probe_id: UUID, command: str = "made-up tool", address: str = "192.0.2.1") -> None:
        """Say that the tool runs."""
        await self.send(ProbeAccepted(probe_id=probe_id, command=command, address=address))

    async def output(
        self,
        probe_id: UUID,
        *texts: str,
        first_seq: int | None = None,
        stream: OutputStream = OutputStream.STDOUT,
    ) -> int:
        """Send lines in batches, numbered on from the last; answers the last number.

        With `first_seq` they are numbered from there, for batches that repeat or leave a hole.
        """
        seq = first_seq if first_seq is not None else self._next_seq.get(probe_id, 1)
        lines = [OutputLine(seq=seq + at, stream=stream, text=text) for at, text in enumerate(texts)]
        for at in range(0, len(lines), MAX_BATCH_LINES):
            await self.send(ProbeOutput(probe_id=probe_id, lines=tuple(lines[at : at + MAX_BATCH_LINES])))
        self._next_seq[probe_id] = max(self._next_seq.get(probe_id, 1), seq + len(lines))
        return seq + len(lines) - 1

    async def done(
        self, probe_id: UUID, exit_code: int | None = 0, error: ProbeReason | None = None, **fields: Any
    ) -> None:
        """Say that the tool has ended."""
        values: dict[str, Any] = {"last_seq": self._next_seq.get(probe_id, 1) - 1, **fields}
        await self.send(ProbeDone(probe_id=probe_id, exit_code=exit_code, error=error, **values))

    async def play(self, probe_id: UUID, texts: Sequence[str], **fields: Any) -> None:
        """A whole run: accepted, lines, done."""
        await self.accept(probe_id)
        await self.output(probe_id, *texts)
        await self.done(probe_id, **fields)

    # --- hearing -----------------------------------------------------------------------------------

    async def expect(
        self, kind: type[Received], where: Callable[[Received], bool] = lambda _: True
    ) -> Received:
        """The next frame of this kind that was not yet handed out, waiting for it; others are passed over."""
        async with asyncio.timeout(SECONDS), self._changed:
            while True:
                while self._seen < len(self.received):
                    frame = self.received[self._seen]
                    self._seen += 1
                    if isinstance(frame, kind) and where(frame):
                        return frame
                assert self.close_code is None, f"closed with {self.close_code} {self.close_reason}"
                await self._changed.wait()

    def all(self, kind: type[Received]) -> list[Received]:
        """Every frame of this kind so far, handed out or not."""
        return [frame for frame in self.received if isinstance(frame, kind)]

    async def closed(self) -> int:
        """Wait until the link has ended; answers the close code, 1006 for a cut without one."""
        async with asyncio.timeout(SECONDS), self._changed:
            await self._changed.wait_for(lambda: self.close_code is not None)
        assert self.close_code is not None
        return self.close_code

    # --- leaving -----------------------------------------------------------------------------------

    async def close(self) -> None:
        """Leave in the ordinary way."""
        await self.socket.close()
        await self._finish()

    async def cut(self) -> None:
        """Vanish with a reset and without a close frame."""
        self.socket.transport.abort()
        await self._finish()

    def stop_reading(self) -> None:
        """Take nothing more from the network, as an agent that hangs."""
        self.socket.transport.pause_reading()

    def resume_reading(self) -> None:
        """Go on after `stop_reading`."""
        self.socket.transport.resume_reading()

    async def _finish(self) -> None:
        assert self._reading is not None
        await self._reading

    async def _read(self) -> None:
        with suppress(ConnectionClosed):
            while True:
                message = await self.socket.recv()
                async with self._changed:
                    self.received.append(_parse(message))
                    self._changed.notify_all()
        async with self._changed:
            self.close_code = self.socket.close_code or 1006
            self.close_reason = self.socket.close_reason or ""
            self._changed.notify_all()


def _parse(message: str | bytes) -> Frame | dict[str, Any]:
    document: dict[str, Any] = json.loads(message)
    if document.get("type") in SERVER_FRAME_TYPES:
        return SERVER_FRAME.validate_python(document)
    return document
