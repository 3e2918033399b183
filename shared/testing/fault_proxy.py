"""A TCP proxy on loopback that does to a conversation what networks do: pause, delay, cut, repeat, spoil."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

_CHUNK = 65_536


@dataclass
class Faults:
    """What happens to the bytes of every connection from now on; the default is nothing."""

    #: Seconds that each piece of a reply is held back.
    delay_reply: float = 0.0
    #: Close both sides once so many bytes of requests, or of replies, have passed on a connection.
    cut_request_after: int | None = None
    cut_reply_after: int | None = None
    #: Send each piece of a reply twice.
    duplicate_reply: bool = False
    #: Put these bytes before the next piece of a reply, once.
    inject_reply: bytes = b""
    #: Pass no more than so many bytes of each connection's replies, and keep the connection open.
    truncate_reply_after: int | None = None


@dataclass
class FaultProxy:
    """Stands between a client and `target`; `port` is where the client connects."""

    host: str
    target: int
    port: int = 0
    faults: Faults = field(default_factory=Faults)
    #: Connections that were accepted since the start.
    accepted: int = 0
    #: Bytes of requests that came in since the start.
    requested: int = 0

    def __post_init__(self) -> None:
        self._flowing = asyncio.Event()
        self._flowing.set()
        self._tasks: set[asyncio.Task[None]] = set()
        self._writers: set[asyncio.StreamWriter] = set()

    @property
    def url(self) -> str:
        return f"redis://{self.host}:{self.port}"

    @property
    def open_connections(self) -> int:
        return len(self._tasks)

    def pause(self) -> None:
        """Take bytes in and let none out, as a network that drops everything."""
        self._flowing.clear()

    def resume(self) -> None:
        self._flowing.set()

    def cut_all(self) -> None:
        """Close every connection at once."""
        for writer in self._writers:
            writer.transport.abort()

    def accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.accepted += 1
        self._writers.add(writer)
        task = asyncio.create_task(self._serve(reader, writer))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def aclose(self) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        # A task that was cancelled before its first step has closed nothing.
        self.cut_all()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            with contextlib.suppress(OSError):
                await self._join(reader, writer)
        finally:
            self._writers.discard(writer)
            writer.transport.abort()

    async def _join(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        upstream_reader, upstream_writer = await asyncio.open_connection(self.host, self.target)
        self._writers.add(upstream_writer)
        directions = [
            asyncio.create_task(self._requests(reader, upstream_writer)),
            asyncio.create_task(self._replies(upstream_reader, writer)),
        ]
        try:
            await asyncio.wait(directions, return_when=asyncio.FIRST_COMPLETED)
        finally:
            self._writers.discard(upstream_writer)
            upstream_writer.transport.abort()
            for direction in directions:
                direction.cancel()
            await asyncio.gather(*directions, return_exceptions=True)

    async def _requests(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        passed = 0
        while data := await reader.read(_CHUNK):
            self.requested += len(data)
            await self._flowing.wait()
            limit = self.faults.cut_request_after
            if limit is not None and passed + len(data) >= limit:
                await _deliver(writer, data[: limit - passed])
                return
            passed += len(data)
            writer.write(data)
            await writer.drain()

    async def _replies(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        passed = 0
        while data := await reader.read(_CHUNK):
            await self._flowing.wait()
            if self.faults.delay_reply:
                await asyncio.sleep(self.faults.delay_reply)
            cut, truncation = self.faults.cut_reply_after, self.faults.truncate_reply_after
            if cut is not None and passed + len(data) >= cut:
                await _deliver(writer, data[: cut - passed])
                return
            if truncation is not None:
                data = data[: max(0, truncation - passed)]
            passed += len(data)
            writer.write(self._corrupted(data))
            await writer.drain()

    def _corrupted(self, data: bytes) -> bytes:
        injected, self.faults.inject_reply = self.faults.inject_reply, b""
        return injected + data * (2 if self.faults.duplicate_reply else 1)


@asynccontextmanager
async def fault_proxy(target: int, host: str = "127.0.0.1") -> AsyncIterator[FaultProxy]:
    """A proxy before a port of this machine, for the time of the block."""
    proxy = FaultProxy(host, target)
    server = await asyncio.start_server(proxy.accept, host, 0)
    proxy.port = server.sockets[0].getsockname()[1]
    try:
        yield proxy
    finally:
        server.close()
        await proxy.aclose()


async def _deliver(writer: asyncio.StreamWriter, data: bytes) -> None:
    """Hand over the last bytes in order before the cut: a reset could overtake them."""
    writer.write(data)
    await writer.drain()
    if writer.can_write_eof():
        writer.write_eof()
    # One turn for the kernel to pass them on before the connection is aborted.
    await asyncio.sleep(0.005)
