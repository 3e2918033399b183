"""What connections of every protocol have in common: admission, silence, and a slow reader's brake."""

from __future__ import annotations

import asyncio
import socket
from typing import cast

from shared.listeners.table import ConnectionTable, neighbourhood_of


class Connection(asyncio.Protocol):
    """One client. Subclasses say what to do with bytes, and when there is room for more answers."""

    def __init__(self, table: ConnectionTable) -> None:
        self._table = table
        self._loop = asyncio.get_running_loop()
        self.transport: asyncio.Transport
        self.neighbourhood = ""
        #: Whether the client takes our answers as fast as we make them.
        self.writable = True
        #: In the loop's time; whoever is still silent then is let go.
        self.expires_at = float("inf")

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Begin. Small answers leave at once, and a peer that vanished is noticed."""
        self.transport = cast("asyncio.Transport", transport)
        sock = transport.get_extra_info("socket")
        if sock is not None:
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        peer = transport.get_extra_info("peername")
        self.neighbourhood = neighbourhood_of(str(peer[0])) if peer else ""
        self._table.admit(self)

    def connection_lost(self, exc: Exception | None) -> None:
        """End."""
        del exc
        self.writable = False
        self._table.left(self)

    def pause_writing(self) -> None:
        """The client reads too slowly: take no more questions, so that its answers do not pile up."""
        self.writable = False
        if not self.transport.is_closing():
            self.transport.pause_reading()

    def resume_writing(self) -> None:
        """The client has caught up."""
        self.writable = True
        if not self.transport.is_closing():
            self.transport.resume_reading()

    def evict(self) -> None:
        """End at once, whatever is still to be sent."""
        self.transport.abort()

    def silent_for(self, seconds: float) -> None:
        """Let the client go unless it is heard again within so many seconds."""
        self.expires_at = self._loop.time() + seconds
        self._table.heard(self)
