"""A small control server of our own on a real WebSocket: greets agents, keeps what they say, asks them."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from http import HTTPStatus
from typing import Any
from uuid import UUID, uuid4

from websockets.asyncio.server import Server, ServerConnection, serve
from websockets.exceptions import ConnectionClosed
from websockets.http11 import Request, Response

from shared.protocol.base import Frame
from shared.protocol.frames import (
    ServerHello,
)

SECONDS = 20.0


@dataclass(eq=False)
class Line:
    """One agent's connection as the server sees it."""

    socket: ServerConnection
    frames: list[dict[str, Any]] = field(default_factory=list)
    changed: asyncio.Condition = field(default_factory=asyncio.Condition)
    closed: bool = False

    async def send(self, frame: Frame | dict[str, Any]) -> None:
        text = json.dumps(frame) if isinstance(frame, dict) else frame.model_dump_json()
        await self.socket.send(text)

    async def until(self, condition: Callable[[list[dict[str, Any]]], bool]) -> list[dict[str, Any]]:
        async with asyncio.timeout(SECONDS), self.changed:
            await self.changed.wait_for(lambda: condition(self.frames))
        return self.frames

    async def expect(self, kind: str, probe_id: UUID | None = None, count: int = 1) -> dict[str, Any]:
        def matching(frames: list[dict[str, Any]]) -> list[dict[str, Any]]:
            return [
                frame
                for frame in frames
                if frame["type"] == kind and (probe_id is None or frame["probe_id"] == str(probe_id))
            ]

        return matching(await self.until(lambda frames: len(matching(frames)) >= count))[count - 1]

    def lines(self, probe_id: UUID) -> list[dict[str, Any]]:
        batches = [f for f in self.frames if f["type"] == "probe_output" and f["probe_id"] == str(probe_id)]
        return [line for batch in batches for line in batch["lines"]]

    async def run_probe(self, tool: str, target: str, **fields: Any) -> tuple[UUID, dict[str, Any]]:
        probe_id = await self.start_probe(tool, target, **fields)
        return probe_id, await self.expect("probe_done", probe_id)

    async def start_probe(self, tool: str, target: str, **fields: Any) -> UUID:
        probe_id = uuid4()
        allow = fields.pop("allow", ("127.0.0.0/8", "::1/128"))
        wanted = {"type": "probe_start", "probe_id": str(probe_id), "tool": tool, "target": target}
        await self.send({**wanted, "targets": {"allow": allow}, **fields})
        return probe_id


class ControlDouble:
    """Accepts agents on a loopback port."""

    def __init__(self) -> None:
        self.lines: list[Line] = []
        self.attempts: list[str] = []
        self.heartbeat_seconds = 30.0
        #: Close code for every agent instead of a greeting.
        self.refuse_with: int | None = None
        #: HTTP status for every handshake instead of an upgrade.
        self.answer_with: HTTPStatus | None = None
        self.port = 0
        self._server: Server | None = None
        self._changed = asyncio.Condition()
        self._taken = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    async def start(self) -> None:
        self._server = await serve(
            self._serve,
            "127.0.0.1",
            self.port,
            process_request=self._handshake,
            ping_interval=None,
            close_timeout=0.5,
        )
        self.port = next(iter(self._server.sockets)).getsockname()[1]

    async def stop(self) -> None:
        assert self._server is not None
        self._server.close()
        await self._server.wait_closed()

    async def next_line(self) -> Line:
        """The next connection that was greeted."""
        async with asyncio.timeout(SECONDS), self._changed:
            await self._changed.wait_for(lambda: len(self.lines) > self._taken)
        self._taken += 1
        return self.lines[self._taken - 1]

    async def until_attempts(self, count: int) -> None:
        async with asyncio.timeout(SECONDS), self._changed:
            await self._changed.wait_for(lambda: len(self.attempts) >= count)

    async def _handshake(self, connection: ServerConnection, request: Request) -> Response | None:
        if request.path == "/api/v1/agent/desired-state":
            return connection.respond(HTTPStatus.NOT_FOUND, "nothing is published")
        async with self._changed:
            self.attempts.append(request.headers.get("Authorization", ""))
            self._changed.notify_all()
        return connection.respond(self.answer_with, "no") if self.answer_with else None

    async def _serve(self, socket: ServerConnection) -> None:
        if self.refuse_with is not None:
            await socket.close(self.refuse_with, "refused")
            return
        line = Line(socket)
        try:
            line.frames.append(json.loads(await socket.recv()))
            await line.send(
                ServerHello(
                    server_version="test",
                    node_id="r1",
                    heartbeat_seconds=self.heartbeat_seconds,
                    fencing_token=len(self.lines) + 1,
                    server_time=datetime.now(UTC),
                )
            )
            async with self._changed:
                self.lines.append(line)
                self._changed.notify_all()
            async for message in socket:
                async with line.changed:
                    line.frames.append(json.loads(message))
                    line.changed.notify_all()
        except ConnectionClosed:
            pass
        finally:
            line.closed = True


@asynccontextmanager
async def control_double() -> AsyncIterator[ControlDouble]:
    double = ControlDouble()
    await double.start()
    try:
        yield double
    finally:
        await double.stop()
