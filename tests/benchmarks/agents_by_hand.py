"""Agents that cost next to nothing: frames are made once and written as they are, so that the server is slow.

Only for measuring. Frames of a client are masked; a mask of zeros leaves the text as it is (RFC 6455, 5.3).
"""

from __future__ import annotations

import asyncio
import base64
import os
from collections.abc import Sequence
from functools import partial

from shared.protocol.frames import AgentHello, Heartbeat
from shared.testing.fake_agent import SOCKET_PATH

_TEXT, _PING, _PONG = 0x1, 0x9, 0xA
_SHORT, _TWO_BYTES = 126, 65_536
#: A frame that is refused, which is the only answer that a heartbeat gets; the last that an agent sends.
END = '{"type": "heartbeat"}'


def frame(text: str | bytes, opcode: int = _TEXT) -> bytes:
    """One whole frame of a client."""
    data = text.encode() if isinstance(text, str) else text
    if len(data) < _SHORT:
        head = bytes([0x80 | opcode, 0x80 | len(data)])
    else:
        assert len(data) < _TWO_BYTES
        head = bytes([0x80 | opcode, 0x80 | _SHORT]) + len(data).to_bytes(2, "big")
    return head + bytes(4) + data


HELLO = frame(AgentHello(protocol=1, agent_version="1", boot_id="boot", hostname="node").model_dump_json())
BEAT = frame(
    Heartbeat(
        agent_version="1", uptime_seconds=1, load=(0.1, 0.2, 0.3), memory_used_bytes=1, memory_total_bytes=4
    ).model_dump_json()
)
LAST = frame(END)


class HandAgent(asyncio.Protocol):
    """One open socket."""

    def __init__(self, token: str) -> None:
        self._token = token
        self._buffer = b""
        self._open = False
        self.answers: asyncio.Queue[bytes] = asyncio.Queue()
        self.transport: asyncio.Transport

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport
        key = base64.b64encode(os.urandom(16)).decode()
        lines = [
            f"GET {SOCKET_PATH} HTTP/1.1",
            "Host: localhost",
            "Connection: Upgrade",
            "Upgrade: websocket",
            "Sec-WebSocket-Version: 13",
            f"Sec-WebSocket-Key: {key}",
            f"Authorization: Bearer {self._token}",
        ]
        transport.write(("\r\n".join(lines) + "\r\n\r\n").encode())

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        if not self._open:
            head, found, rest = self._buffer.partition(b"\r\n\r\n")
            if not found:
                return
            assert b" 101 " in head, head
            self._open, self._buffer = True, rest
            self.transport.write(HELLO)
        while (whole := _split(self._buffer)) is not None:
            opcode, payload, self._buffer = whole
            if opcode == _PING:
                self.transport.write(frame(payload, _PONG))
            elif opcode == _TEXT:
                self.answers.put_nowait(payload)
            else:
                self.answers.put_nowait(b"closed")


def _split(buffer: bytes) -> tuple[int, bytes, bytes] | None:
    """The first frame of a server, and what follows it."""
    if len(buffer) < 2:
        return None
    length, start = buffer[1], 2
    if length == _SHORT:
        length, start = int.from_bytes(buffer[2:4], "big"), 4
    end = start + length
    return (buffer[0] & 0xF, buffer[start:end], buffer[end:]) if len(buffer) >= max(end, start) else None


def _itself(agent: HandAgent) -> HandAgent:
    return agent


async def connect(port: int, tokens: Sequence[str], at_once: int = 50) -> list[HandAgent]:
    """An open socket for each token, all of them greeted."""
    loop = asyncio.get_running_loop()
    found: list[HandAgent] = []
    for begin in range(0, len(tokens), at_once):
        some = [HandAgent(token) for token in tokens[begin : begin + at_once]]
        await asyncio.gather(
            *(loop.create_connection(partial(_itself, one), "localhost", port) for one in some)
        )
        for greeted in await asyncio.gather(*(one.answers.get() for one in some)):
            assert b"hello" in greeted, greeted
        found += some
    return found
