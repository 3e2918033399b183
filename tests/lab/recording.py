"""A relay that keeps what it passes on: `python -m tests.lab.recording PORT HOST PORT DIRECTORY`.

Each connection leaves two files, one a direction. `frames` reads the WebSocket messages out of one.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Iterator
from contextlib import suppress
from functools import partial
from itertools import count
from pathlib import Path

_CHUNK = 65_536
_MASKED = 0x80
_LENGTH = 0x7F
_TWO_BYTES, _EIGHT_BYTES = 126, 127


async def main() -> None:
    """Relay until ended."""
    port, host, target, directory = sys.argv[1:]
    numbers = count()

    async def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        number = next(numbers)
        try:
            there = await asyncio.open_connection(host, int(target))
        except OSError:
            writer.close()
            return
        keep = partial(_keep, Path(directory), number)
        await asyncio.gather(keep("said", reader, there[1]), keep("heard", there[0], writer))

    async with await asyncio.start_server(accept, "127.0.0.1", int(port)) as server:
        await server.serve_forever()


async def _keep(
    directory: Path, number: int, side: str, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
) -> None:
    with (directory / f"{number}-{side}").open("ab", buffering=0) as file, suppress(OSError):
        while data := await reader.read(_CHUNK):
            file.write(data)
            writer.write(data)
            await writer.drain()
    writer.close()


def frames(recorded: bytes) -> Iterator[bytes]:
    """The payloads after the handshake, without their masks (RFC 6455, section 5.2)."""
    _, _, rest = recorded.partition(b"\r\n\r\n")
    while len(rest) > 1:
        masked, length, at = rest[1] & _MASKED, rest[1] & _LENGTH, 2
        if length >= _TWO_BYTES:
            size = 8 if length == _EIGHT_BYTES else 2
            length, at = int.from_bytes(rest[at : at + size]), at + size
        mask = rest[at : at + 4] if masked else bytes(4)
        at += 4 if masked else 0
        payload = rest[at : at + length]
        yield bytes(byte ^ mask[index % 4] for index, byte in enumerate(payload))
        rest = rest[at + length :]


if __name__ == "__main__":
    asyncio.run(main())
