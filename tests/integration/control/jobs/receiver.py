"""A receiver of notifications on loopback that answers as it is told."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Received:
    """One request."""

    headers: dict[str, str]
    body: bytes

    @property
    def key(self) -> str:
        return self.headers["idempotency-key"]


@dataclass
class Receiver:
    """Takes requests; `answers` are used up in order, then it answers 204."""

    port: int = 0
    answers: list[str] = field(default_factory=list)
    received: list[Received] = field(default_factory=list)
    #: Clear it and no request is answered.
    open: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/hook?kind=test"

    @property
    def keys(self) -> list[str]:
        return [request.key for request in self.received]

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
            lines = [line.split(":", 1) for line in head.split("\r\n")[1:] if ":" in line]
            headers = {name.lower(): value.strip() for name, value in lines}
            body = await reader.readexactly(int(headers.get("content-length", "0")))
            self.received.append(Received(headers, body))
            await self.open.wait()
            answer = self.answers.pop(0) if self.answers else "204 No Content"
            extra = "" if "\r\n" in answer else "\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
            writer.write(f"HTTP/1.1 {answer}{extra}".encode())
            await writer.drain()
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()


@asynccontextmanager
async def receiving() -> AsyncIterator[Receiver]:
    receiver = Receiver()
    receiver.open.set()
    server = await asyncio.start_server(receiver.serve, "127.0.0.1", 0)
    receiver.port = server.sockets[0].getsockname()[1]
    try:
        yield receiver
    finally:
        receiver.open.set()
        server.close()
