"""The other ends of the protocols: raw sockets, and programs as Debian ships them."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from dataclasses import dataclass
from typing import Self


@dataclass(slots=True)
class Wire:
    """One TCP connection, byte for byte."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter

    @classmethod
    async def to(cls, port: int, host: str = "127.0.0.1") -> Self:
        return cls(*await asyncio.open_connection(host, port))

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *exception: object) -> None:
        self.writer.close()

    def send(self, data: bytes) -> None:
        self.writer.write(data)

    async def read(self, size: int) -> bytes:
        return await asyncio.wait_for(self.reader.readexactly(size), 20)

    async def once(self) -> bytes:
        """What one read brings, as a client sees it that reads once and expects a whole answer."""
        return await asyncio.wait_for(self.reader.read(65536), 20)

    async def rest(self) -> bytes:
        """Everything until the server closes."""
        try:
            return await asyncio.wait_for(self.reader.read(-1), 20)
        except ConnectionResetError:
            return b""

    async def ask(self, question: bytes, answer: bytes) -> None:
        """The exchange is exactly this."""
        self.send(question)
        assert await self.read(len(answer)) == answer


async def ask_once(port: int, data: bytes, *, half_close: bool = False) -> bytes:
    """Everything that comes back on a connection of its own."""
    async with await Wire.to(port) as wire:
        wire.send(data)
        if half_close:
            wire.writer.write_eof()
        return await wire.rest()


@dataclass(frozen=True, slots=True)
class Ended:
    """How a program ended."""

    status: int
    output: str
    errors: str


async def run(*command: str) -> Ended:
    process = await asyncio.create_subprocess_exec(
        *command, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE
    )
    try:
        output, errors = await asyncio.wait_for(process.communicate(), 60)
    finally:
        with suppress(ProcessLookupError):
            process.kill()
        await process.wait()
    return Ended(process.returncode or 0, output.decode(), errors.decode())


async def bgpq4(port: int, *arguments: str) -> Ended:
    return await run("bgpq4", "-h", f"127.0.0.1:{port}", *arguments)


async def whois(port: int, *arguments: str) -> Ended:
    return await run("whois", "-h", "127.0.0.1", "-p", str(port), *arguments)
