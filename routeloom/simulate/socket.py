"""One agent's WebSocket: frames go out in order, and it can be known when all of them were acted upon."""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from websockets.asyncio.client import ClientConnection, connect

from shared import __version__
from shared.protocol.frames import (
    MAX_FRAME_BYTES,
    SERVER_FRAME,
    SERVER_FRAME_TYPES,
    AgentHello,
    ErrorFrame,
    ServerHello,
    SnapshotRequest,
)
from shared.protocol.reports import PrefixAcknowledged

if TYPE_CHECKING:
    from shared.protocol.base import Frame

_PATH = "/api/v1/agent/ws"
_SECONDS = 60.0
#: A frame that no server takes. Frames of one socket are acted upon in order, so that its refusal comes after
#: everything before it is done.
_REFUSED = json.dumps({"type": "pong", "nonce": "x" * 65})
_REFUSED_KIND = "pong"


@dataclass
class AgentSocket:
    """An open link."""

    connection: ClientConnection
    #: The server's word on frames that it did not take.
    refusals: list[ErrorFrame] = field(default_factory=list)
    snapshot_wanted: bool = False

    @classmethod
    async def open(cls, server: str, token: str, boot_id: str) -> AgentSocket:
        """Connect and greet."""
        scheme, _, rest = server.rstrip("/").partition("://")
        connection = await connect(
            f"ws{scheme.removeprefix('http')}://{rest}{_PATH}",
            additional_headers={"Authorization": f"Bearer {token}"},
            compression=None,
            proxy=None,
            ping_interval=None,
            max_size=MAX_FRAME_BYTES,
            close_timeout=1,
        )
        opened = cls(connection)
        await opened.send(AgentHello(agent_version=__version__, boot_id=boot_id))
        while not isinstance(await opened._next(), ServerHello):
            pass
        return opened

    async def send(self, frame: Frame) -> None:
        """Send a frame. Raises ConnectionClosed."""
        await self.connection.send(frame.model_dump_json())

    async def settle(self) -> None:
        """Return when the server has acted upon everything that was sent. Raises ConnectionClosed."""
        await self.connection.send(_REFUSED)
        while True:
            frame = await self._next()
            if isinstance(frame, ErrorFrame):
                if frame.ref == _REFUSED_KIND:
                    return
                self.refusals.append(frame)

    async def acknowledged(self, sequence: int) -> PrefixAcknowledged | None:
        """The server's answer to a report of prefixes; None when it was refused. Raises ConnectionClosed."""
        while True:
            frame = await self._next()
            if isinstance(frame, PrefixAcknowledged) and frame.sequence == sequence:
                return frame
            if isinstance(frame, ErrorFrame):
                self.refusals.append(frame)
                return None

    async def cut(self) -> None:
        """Vanish without a word, and wait until nothing of it is left here."""
        self.connection.transport.abort()
        await self.connection.wait_closed()

    async def close(self) -> None:
        """Leave in the ordinary way."""
        await self.connection.close()

    async def _next(self) -> Frame | None:
        async with asyncio.timeout(_SECONDS):
            text = await self.connection.recv()
        document = json.loads(text)
        if document.get("type") not in SERVER_FRAME_TYPES:
            return None
        frame = SERVER_FRAME.validate_python(document)
        self.snapshot_wanted |= isinstance(frame, SnapshotRequest)
        return frame
