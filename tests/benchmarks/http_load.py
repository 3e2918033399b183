"""Requests over kept-alive connections, as cheaply as Python can: the server is to be what is slow."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from urllib.parse import urlencode, urlsplit

CLOCK_TICKS = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True, slots=True)
class Rate:
    """Requests a second on the clock, and a second of the server's own processor time."""

    on_the_clock: float
    of_its_processor: float


def form(address: str, fields: dict[str, str], headers: dict[str, str]) -> bytes:
    """A POST of a form, ready to be sent."""
    parts = urlsplit(address)
    body = urlencode(fields)
    lines = [
        f"POST {parts.path} HTTP/1.1",
        f"Host: {parts.netloc}",
        "Content-Type: application/x-www-form-urlencoded",
        f"Content-Length: {len(body)}",
        *(f"{name}: {value}" for name, value in headers.items()),
    ]
    return ("\r\n".join(lines) + "\r\n\r\n" + body).encode()


def get(address: str, headers: dict[str, str] | None = None) -> bytes:
    parts = urlsplit(address)
    lines = [
        f"GET {parts.path} HTTP/1.1",
        f"Host: {parts.netloc}",
        *(f"{name}: {value}" for name, value in (headers or {}).items()),
    ]
    return ("\r\n".join(lines) + "\r\n\r\n").encode()


def processor_seconds(pid: int) -> float:
    """What a process has used so far."""
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rsplit(") ", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / CLOCK_TICKS


class Connection:
    """One kept-alive connection; answers come with a length or in chunks."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer

    @classmethod
    async def open(cls, address: str) -> Connection:
        parts = urlsplit(address)
        return cls(*await asyncio.open_connection(parts.hostname, parts.port))

    async def send(self, request: bytes) -> tuple[int, bytes]:
        """The status and the body."""
        self._writer.write(request)
        head = await self._reader.readuntil(b"\r\n\r\n")
        status, lowered = int(head[9:12]), head.lower()
        at = lowered.find(b"content-length:")
        if at >= 0:
            length = int(lowered[at + 15 : lowered.index(b"\r", at)])
            return status, await self._reader.readexactly(length)
        body = b""
        while size := int((await self._reader.readuntil(b"\r\n")).strip(), 16):
            body += (await self._reader.readexactly(size + 2))[:-2]
        await self._reader.readexactly(2)
        return status, body

    def close(self) -> None:
        self._writer.close()


async def send_all(address: str, requests: Sequence[bytes], connections: int) -> tuple[list[bytes], float]:
    """The bodies of all answers, each of which must be 200, and how long it took."""
    opened = [await Connection.open(address) for _ in range(connections)]
    waiting: Iterator[int] = iter(range(len(requests)))
    bodies = [b""] * len(requests)

    async def work(connection: Connection) -> None:
        for number in waiting:
            status, bodies[number] = await connection.send(requests[number])
            assert status == 200, bodies[number]

    began = perf_counter()
    await asyncio.gather(*(work(connection) for connection in opened))
    took = perf_counter() - began
    for connection in opened:
        connection.close()
    return bodies, took


async def measure(
    address: str, pid: int, requests: Sequence[bytes], connections: int = 16
) -> tuple[list[bytes], Rate]:
    """Send them, and how fast that was."""
    before = processor_seconds(pid)
    bodies, took = await send_all(address, requests, connections)
    used = processor_seconds(pid) - before
    return bodies, Rate(len(requests) / took, len(requests) / max(used, 1 / CLOCK_TICKS))
