"""Runs an application under uvicorn: limits said explicitly, and a farewell before sockets close."""

from __future__ import annotations

import asyncio
import gc
from contextlib import contextmanager
from socket import IPPROTO_TCP, TCP_USER_TIMEOUT
from typing import TYPE_CHECKING, Any

import uvicorn

from shared.protocol.frames import MAX_FRAME_BYTES
from shared.web.joined_writes import JoiningProtocol

if TYPE_CHECKING:
    import socket
    from collections.abc import Awaitable, Callable, Generator

    from shared.web.settings import WebSettings

#: Streams and requests have so long to end by themselves.
GRACE_SECONDS = 5
#: Data that a client does not acknowledge for so long ends its connection (RFC 5482).
_UNACKNOWLEDGED_MILLISECONDS = 15_000
#: New objects between two looks for waste in cycles, and young looks between two of older objects. A request
#: makes some thousands of objects, nearly all of which are gone at its end without a look.
_LOOKS = (20_000, 20, 20)


class Server(uvicorn.Server):
    """A server that says goodbye first: the lifespan's end comes only after sockets are closed."""

    def __init__(self, config: uvicorn.Config, farewell: Callable[[], Awaitable[None]]) -> None:
        """Call `farewell` when told to stop."""
        super().__init__(config)
        self._farewell = farewell
        #: Set once requests are taken.
        self.ready = asyncio.Event()

    def stop(self) -> None:
        """End as after a signal."""
        self.should_exit = True

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start, then say so."""
        await super().startup(sockets)
        for server in self.servers:
            for listener in server.sockets:
                # Accepted sockets inherit it: a peer that is gone without a word is noticed at the next
                # keep-alive, not after the kernel's quarter of an hour.
                listener.setsockopt(IPPROTO_TCP, TCP_USER_TIMEOUT, _UNACKNOWLEDGED_MILLISECONDS)
        if self.started:
            self.ready.set()

    @contextmanager
    def capture_signals(self) -> Generator[None, None, None]:
        """A signal ends the server; it is not raised again, for a stop that was asked for is no failure."""
        with super().capture_signals():
            yield
            self._captured_signals.clear()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Tell clients, then stop."""
        await self._farewell()
        await super().shutdown(sockets)


def look_for_waste_seldom() -> None:
    """For a process that serves from now on: what it was built of stays, and is looked at no more."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(*_LOOKS)


def server_config(app: Any, settings: WebSettings) -> uvicorn.Config:
    """Every limit that matters, explicit."""
    return uvicorn.Config(
        app,
        host=settings.host,
        port=settings.port,
        loop="uvloop",
        http=JoiningProtocol,
        ws="websockets-sansio",
        ws_max_size=MAX_FRAME_BYTES + 65_536,  # so that our own 4413 is said, not a bare 1009
        ws_max_queue=8,
        ws_ping_interval=20,
        ws_ping_timeout=20,
        # Our agents do without and compress what is large themselves; each of others would cost two windows.
        ws_per_message_deflate=False,
        timeout_graceful_shutdown=GRACE_SECONDS,
        timeout_keep_alive=75,
        proxy_headers=bool(settings.trusted_proxies),
        forwarded_allow_ips=settings.trusted_proxies or "",
        server_header=False,
        date_header=True,
        access_log=False,
        log_config=None,
        lifespan="on",
    )
