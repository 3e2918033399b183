"""A response that is whole goes out in one piece.

The server writes the head of a response and its body one after the other, and each write is a call to the
system that wakes the other side. The head therefore waits for the body, to the end of the loop's turn at
the longest; whatever else is written is passed on at once.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, cast

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

if TYPE_CHECKING:
    from collections.abc import Iterable

_HEAD = b"HTTP/"
#: A larger body is not copied behind its head.
_MOST_COPIED = 65_536


class JoinedWrites(asyncio.Transport):
    """A transport that keeps the head of a response back until the body comes, or the turn ends."""

    def __init__(self, transport: asyncio.Transport, loop: asyncio.AbstractEventLoop) -> None:
        """Write to this transport."""
        super().__init__()
        self._transport = transport
        self._loop = loop
        self._head = b""

    def bare(self) -> asyncio.Transport:
        """What is written to in the end, for a protocol that is not HTTP."""
        self._let_go()
        return self._transport

    def write(self, data: bytes | bytearray | memoryview[Any]) -> None:
        """Send a body with its head; keep a head back."""
        if self._head:
            head, self._head = self._head, b""
            if len(data) > _MOST_COPIED:
                self._transport.writelines((head, data))
            else:
                self._transport.write(head + data)
        elif data[:5] == _HEAD:
            self._head = bytes(data)
            self._loop.call_soon(self._let_go)
        else:
            self._transport.write(data)

    def writelines(self, list_of_data: Iterable[bytes | bytearray | memoryview[Any]]) -> None:
        """Send the pieces."""
        self._let_go()
        self._transport.writelines(list_of_data)

    def close(self) -> None:
        """Close once everything is sent."""
        self._let_go()
        self._transport.close()

    def abort(self) -> None:
        """Close at once."""
        self._head = b""
        self._transport.abort()

    def is_closing(self) -> bool:
        """Whether nothing can be sent any more."""
        return self._transport.is_closing()

    def get_extra_info(self, name: str, default: Any = None) -> Any:
        """What is known of the connection."""
        return self._transport.get_extra_info(name, default)

    def pause_reading(self) -> None:
        """Take nothing in."""
        self._transport.pause_reading()

    def resume_reading(self) -> None:
        """Take in again."""
        self._transport.resume_reading()

    def set_protocol(self, protocol: asyncio.BaseProtocol) -> None:
        """Give what comes in to another."""
        self._transport.set_protocol(protocol)

    def _let_go(self) -> None:
        head, self._head = self._head, b""
        if head and not self._transport.is_closing():
            self._transport.write(head)


class JoiningProtocol(HttpToolsProtocol):
    """The server's own protocol of HTTP on such a transport."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin."""
        super().connection_made(JoinedWrites(transport, self.loop))

    def handle_websocket_upgrade(self) -> None:
        """Leave the connection to the protocol of sockets, which writes by itself."""
        self.transport = cast("JoinedWrites", self.transport).bare()
        super().handle_websocket_upgrade()
