"""One conversation with BIRD over its control socket."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from node_agent.bird.errors import (
    BirdRefused,
    BirdReplyTooLarge,
    BirdTookTooLong,
    BirdUnreachable,
    BirdWasReconfigured,
    BirdWentAway,
)
from node_agent.bird.framing import MAX_REPLY_BYTES, STOPPED, Line, LineReader, Reply, ReplyReader

if TYPE_CHECKING:
    from asyncio import StreamReader, StreamWriter

#: Debian's place of it.
CONTROL_SOCKET = Path("/run/bird/bird.ctl")
_GREETING = 1
_RESTRICTED = 16
#: Longer ones are answered `9000 Command too long`.
_MAX_COMMAND_BYTES = 4000
_CHUNK_BYTES = 65_536
_SECONDS = 10.0
_REPEATS = 3


@dataclass(slots=True)
class BirdConversation:
    """A connected socket. One command at a time; others wait for their turn."""

    reader: StreamReader
    writer: StreamWriter
    seconds: float = _SECONDS
    replies: ReplyReader = field(default_factory=ReplyReader)
    _turn: asyncio.Lock = field(default_factory=asyncio.Lock)
    _waiting: list[Reply] = field(default_factory=list)

    @property
    def asides(self) -> list[str]:
        """What BIRD said by the way, such as the end of an unconfirmed configuration's time."""
        return self.replies.asides

    async def ask(self, command: str, *, limit: int = MAX_REPLY_BYTES, seconds: float | None = None) -> Reply:
        """The whole answer, good or bad; one that a change of configuration cut is asked for again.

        Raises BirdWentAway, BirdTookTooLong, BirdReplyTooLarge, BirdSpokeStrangely, or BirdRefused for a
        command that cannot be one.
        """
        raw = command.encode()
        if len(raw) > _MAX_COMMAND_BYTES or any(byte < ord(" ") for byte in raw):
            detail = "A command is one line of at most 4000 bytes."
            raise BirdRefused(detail)
        for _ in range(_REPEATS):
            reply = await self._exchange(raw, limit, seconds or self.seconds)
            if not reply.partial:
                break
        return reply

    async def command(self, command: str, *, seconds: float | None = None) -> Reply:
        """The answer of a command that must go well. Raises BirdRefused in BIRD's own words, and as `ask`."""
        reply = await self.ask(command, seconds=seconds)
        if reply.failed:
            detail = f"BIRD refused {command!r}: {reply.text or reply.code}"
            raise BirdRefused(detail)
        return reply

    async def stream(
        self, command: str, take: Callable[[Sequence[Line]], None], *, limit: int, seconds: float
    ) -> None:
        """Hand over the lines of the answer as they come, the closing one last; nothing of it is kept.

        `seconds` is for each piece. Raises as `ask`, and BirdWasReconfigured for an answer that was cut.
        After any error, of `take` as well, the conversation is over.
        """
        async with self._turn:
            reading, size = LineReader(), 0
            try:
                await self._send(command.encode(), seconds)
                while not reading.ended:
                    data = await self._read(seconds)
                    size += len(data)
                    if size > limit:
                        raise BirdReplyTooLarge
                    lines = reading.feed(data)
                    if any(line.code == STOPPED for line in lines):
                        raise BirdWasReconfigured
                    take(lines)
                    # What has arrived already comes without a wait, and others have to have their turn.
                    await asyncio.sleep(0)
            finally:
                if not reading.ended:
                    self.writer.close()

    async def greet(self) -> None:
        """Wait for the greeting. Raises as `ask`."""
        reply = await self._receive(self.seconds)
        if reply.code != _GREETING:
            raise BirdUnreachable

    async def restrict(self) -> None:
        """Give up all commands that change something. Raises BirdRefused if BIRD does not promise it."""
        reply = await self.command("restrict")
        if reply.code != _RESTRICTED:
            detail = "BIRD did not restrict the conversation."
            raise BirdRefused(detail)

    async def _exchange(self, raw: bytes, limit: int, seconds: float) -> Reply:
        async with self._turn:
            self.replies.limit = limit
            await self._send(raw, seconds)
            return await self._receive(seconds)

    async def _send(self, raw: bytes, seconds: float) -> None:
        try:
            self.writer.write(raw + b"\n")
            async with asyncio.timeout(seconds):
                await self.writer.drain()
        except TimeoutError:
            raise BirdTookTooLong from None
        except OSError as error:
            raise BirdWentAway from error

    async def _read(self, seconds: float) -> bytes:
        try:
            async with asyncio.timeout(seconds):
                data = await self.reader.read(_CHUNK_BYTES)
        except TimeoutError:
            raise BirdTookTooLong from None
        except OSError as error:
            raise BirdWentAway from error
        if not data:
            raise BirdWentAway
        return data

    async def _receive(self, seconds: float) -> Reply:
        try:
            async with asyncio.timeout(seconds):
                while not self._waiting:
                    data = await self.reader.read(_CHUNK_BYTES)
                    if not data:
                        raise BirdWentAway
                    self._waiting += self.replies.feed(data)
        except TimeoutError:
            # What comes later would be taken for the answer to the next command.
            self.writer.close()
            raise BirdTookTooLong from None
        except OSError as error:
            raise BirdWentAway from error
        return self._waiting.pop(0)


@asynccontextmanager
async def conversing(
    socket: Path, *, restricted: bool = False, seconds: float = _SECONDS
) -> AsyncIterator[BirdConversation]:
    """Open the control socket, for reading alone when `restricted`. Raises BirdUnreachable, and as `ask`."""
    try:
        async with asyncio.timeout(seconds):
            reader, writer = await asyncio.open_unix_connection(socket)
    except (OSError, TimeoutError) as error:
        reason = getattr(error, "strerror", None) or "no answer in time"
        detail = f"BIRD's control socket {socket} cannot be used: {reason}. Is bird running?"
        raise BirdUnreachable(detail) from error
    conversation = BirdConversation(reader, writer, seconds)
    try:
        await conversation.greet()
        if restricted:
            await conversation.restrict()
        yield conversation
    finally:
        writer.close()
        with suppress(OSError):
            await writer.wait_closed()
