"""Serves a protocol on a port until cancelled."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import socket
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field
from datetime import timedelta

import structlog

from shared.kernel.loops import Loop
from shared.listeners.connection import Connection
from shared.listeners.descriptors import make_room
from shared.listeners.settings import ListenerSettings
from shared.listeners.table import ConnectionTable

log = structlog.get_logger(__name__)
#: How often those are looked for who were silent for too long.
_SWEEP_SECONDS = 1.0
_BACKLOG = 512
#: Bytes of answers that clients may leave unread, all together.
_MOST_UNSENT = 64 << 20
#: A host without IPv6, or without this address: the others are served.
_ABSENT = {errno.EADDRNOTAVAIL, errno.EAFNOSUPPORT}
_PAUSE_AFTER_FAILURE = timedelta(seconds=5)
#: Turns of the event loop from a client that was accepted to its connection, and from there to its end.
_TURNS = 3
#: Serving has no end of its own.
_FOR_EVER = timedelta(days=36_500)


@dataclass(slots=True)
class Listener:
    """One port on some addresses."""

    name: str
    settings: ListenerSettings
    connect: Callable[[ConnectionTable], Connection]
    #: Whether other processes of this service listen on the same port.
    shared: bool = False
    #: Awaited once the port is taken and before the first question is read: whoever connects waits for it.
    opening: Callable[[], Awaitable[None]] | None = None
    table: ConnectionTable = field(init=False)
    #: The port while it listens, else None.
    port: int | None = field(init=False, default=None)
    #: Host and port of each address that it listens on now.
    addresses: tuple[tuple[str, int], ...] = field(init=False, default=())
    #: Whether another program holds the port, which is waited for.
    held: bool = field(init=False, default=False)
    _tried: asyncio.Event = field(init=False, default_factory=asyncio.Event)

    def __post_init__(self) -> None:
        """Make the table."""
        self.table = ConnectionTable(self.settings.connections, self.settings.connections_per_address)

    def loops(self) -> list[Loop]:
        """Serving as a named loop, tried again where it fails, as on a taken port; none where it is off."""
        if self.settings.port is None:
            return []
        return [Loop(self.name, self.serve, interval=_PAUSE_AFTER_FAILURE, time_limit=_FOR_EVER)]

    async def tried(self) -> None:
        """Wait until it is known whether the port can be had."""
        await self._tried.wait()

    async def serve(self) -> None:
        """Listen and serve until cancelled. Raises OSError where no address can be listened on.

        A port that another program holds is waited for, and that is said once.
        """
        make_room(self.settings.connections)
        while (sockets := self._bind_if_free()) is None:
            if not self.held:
                log.warning("port_in_use", listener=self.name, port=self.settings.port)
                self.held = True
            await asyncio.sleep(_PAUSE_AFTER_FAILURE.total_seconds())
        self.held = False
        async with self._listening(sockets):
            while True:
                await asyncio.sleep(_SWEEP_SECONDS)
                self._sweep()

    @contextlib.asynccontextmanager
    async def _listening(self, sockets: list[socket.socket]) -> AsyncIterator[None]:
        loop = asyncio.get_running_loop()
        async with contextlib.AsyncExitStack() as stack:
            for sock in sockets:
                stack.callback(sock.close)
                sock.listen(_BACKLOG)
            stack.push_async_callback(self._end)
            self.port = sockets[0].getsockname()[1]
            self.addresses = tuple(sock.getsockname()[:2] for sock in sockets)
            if self.opening is not None:
                await self.opening()
            for sock in sockets:
                server = await loop.create_server(self._connect, sock=sock, backlog=_BACKLOG)
                stack.push_async_callback(_close, sock, server)
            yield

    async def _end(self) -> None:
        """Let everybody go, whoever was accepted a moment ago too, and see that their sockets are closed."""
        self.port, self.addresses = None, ()
        for _ in range(_TURNS):
            for connection in self.table:
                connection.evict()
            await asyncio.sleep(0)

    def _connect(self) -> Connection:
        return self.connect(self.table)

    def _sweep(self) -> None:
        """Let those go who are silent for too long, and those who take in least of what they asked for."""
        now = asyncio.get_running_loop().time()
        unsent: list[tuple[int, Connection]] = []
        for connection in self.table:
            if not isinstance(connection, Connection):
                continue
            if connection.expires_at <= now:
                connection.evict()
            elif size := connection.transport.get_write_buffer_size():
                unsent.append((size, connection))
        unsent.sort(key=lambda each: each[0])
        while sum(size for size, _ in unsent) > _MOST_UNSENT:
            unsent.pop()[1].evict()

    def _bind_if_free(self) -> list[socket.socket] | None:
        try:
            return self._bind()
        except OSError as error:
            if error.errno == errno.EADDRINUSE:
                return None
            raise
        finally:
            self._tried.set()

    def _bind(self) -> list[socket.socket]:
        sockets: list[socket.socket] = []
        port = self.settings.port or 0
        absent: OSError | None = None
        try:
            for host in self.settings.hosts:
                try:
                    sockets.append(_bound(host, port, shared=self.shared))
                except OSError as error:
                    if error.errno not in _ABSENT:
                        raise
                    absent = error
                    continue
                port = sockets[-1].getsockname()[1]
        except OSError:
            for sock in sockets:
                sock.close()
            raise
        if not sockets:
            raise absent or OSError(errno.EADDRNOTAVAIL, "no address to listen on")
        return sockets


def _bound(host: str, port: int, *, shared: bool) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with contextlib.ExitStack() as stack:
        sock = stack.enter_context(socket.socket(family, socket.SOCK_STREAM))
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if shared:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        if family is socket.AF_INET6:
            sock.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        sock.bind((host, port))
        stack.pop_all()
    sock.setblocking(False)  # noqa: FBT003 - the socket module's own signature
    return sock


async def _close(sock: socket.socket, server: asyncio.Server) -> None:
    """Accept nobody, and close once those have their connections who were accepted a moment ago.

    A server of asyncio that is closed before leaves their sockets open.
    """
    asyncio.get_running_loop().remove_reader(sock)
    for _ in range(_TURNS):
        await asyncio.sleep(0)
    server.close()
