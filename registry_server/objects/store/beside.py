"""Has files parsed by a process of their own, while this one stores what was parsed and answers others."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import aclosing, asynccontextmanager, suppress
from pathlib import Path

from registry_server.objects.rules.rows import index_rows
from registry_server.objects.schemas import FileVersion, IndexRows
from registry_server.objects.store.messages import pack_files, read, unpack_rows, write
from shared.kernel.pipes import widen
from shared.kernel.tasks import end

#: So many results wait at most for whoever stores them.
_AHEAD = 4
#: All that it may need to run at all; whatever else we were told is no business of its.
_ENVIRONMENT = ("LD_LIBRARY_PATH", "PYTHONHOME", "PYTHONDONTWRITEBYTECODE", "PYTHONPYCACHEPREFIX")
_PACKAGES = Path(__file__).parents[3]


class ParserLost(Exception):
    """The process ended, or did not begin; what it had is to be parsed again."""


class ParsingProcess:
    """The process, and the pipes to and from it. Everything here waits, so it is for threads."""

    def __init__(self) -> None:
        """Begin it. Raises ParserLost."""
        environment = {name: os.environ[name] for name in _ENVIRONMENT if name in os.environ}
        environment["PYTHONPATH"] = str(_PACKAGES)
        # Without what is installed: it needs none of that, and a start that looks for it takes longer.
        command = [sys.executable, "-S", "-P", "-m", "registry_server.objects.store.parser"]
        try:
            self._process = subprocess.Popen(  # noqa: S603 - a command of ours
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                env=environment,
                start_new_session=True,
            )
        except OSError as error:
            raise ParserLost from error
        for pipe in (self._process.stdin, self._process.stdout):
            widen(pipe.fileno())  # type: ignore[union-attr]

    def begin(self) -> None:
        """Wait until it has begun. Raises ParserLost."""
        try:
            begun = read(self._process.stdout)  # type: ignore[arg-type]
        except (EOFError, OSError, ValueError) as error:
            raise ParserLost from error
        if begun is None:
            raise ParserLost

    def send(self, first_id: int, files: Sequence[FileVersion]) -> None:
        """Have these parsed next. Objects of the first ones are numbered from `first_id` on, and so forth.

        Raises ParserLost.
        """
        try:
            write(self._process.stdin, (first_id, pack_files(files)))  # type: ignore[arg-type]
        except (OSError, ValueError) as error:
            raise ParserLost from error

    def finish(self) -> None:
        """There are no more."""
        with suppress(OSError):
            self._process.stdin.close()  # type: ignore[union-attr]

    def receive(self) -> IndexRows | None:
        """The rows of the next files, or None after the last ones. Raises ParserLost."""
        try:
            message = read(self._process.stdout)  # type: ignore[arg-type]
        except (EOFError, OSError, ValueError) as error:
            raise ParserLost from error
        if message is not None:
            return unpack_rows(message)
        if self._process.wait():
            raise ParserLost
        return None

    def end(self) -> None:
        """End it at once, and whoever waits for it."""
        self._process.kill()
        self._process.wait()

    def close(self) -> None:
        """Close the pipes; nobody waits at them any more."""
        self.finish()
        self._process.stdout.close()  # type: ignore[union-attr]


class Parsing:
    """Files on their way through the process, and what is parsed here until it has begun."""

    def __init__(self, process: ParsingProcess, first_id: int) -> None:
        """Nothing is parsed yet."""
        self._process = process
        self._first_id = first_id
        self._found: asyncio.Queue[IndexRows | None] = asyncio.Queue(_AHEAD)
        self._begun = asyncio.Event()

    async def send(self, chunks: AsyncGenerator[Sequence[FileVersion], None]) -> None:
        """Have all of them parsed. Raises ParserLost."""
        process = self._process
        try:
            async with aclosing(chunks):
                async for files in chunks:
                    if self._begun.is_set():
                        await asyncio.to_thread(process.send, self._first_id, files)
                    else:
                        rows = await asyncio.to_thread(index_rows, files, self._first_id)
                        self._first_id += rows.count
                        await self._found.put(rows)
        finally:
            await asyncio.to_thread(process.finish)

    async def receive(self) -> None:
        """Take what is parsed. Raises ParserLost."""
        try:
            await asyncio.to_thread(self._process.begin)
            self._begun.set()
            while rows := await asyncio.to_thread(self._process.receive):
                await self._found.put(rows)
        except ParserLost:
            await self._found.put(None)
            raise
        await self._found.put(None)

    async def rows(self, *tasks: asyncio.Task[None]) -> AsyncGenerator[IndexRows, None]:
        """All that was parsed, in order; at the end what the first of the tasks raised that failed."""
        while (rows := await self._found.get()) is not None:
            yield rows
        ended, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_EXCEPTION)
        for task in tasks:
            if task in ended:
                task.result()


@asynccontextmanager
async def parsed_beside(
    chunks: AsyncGenerator[Sequence[FileVersion], None], first_id: int
) -> AsyncIterator[AsyncGenerator[IndexRows, None]]:
    """The rows of the files, from now on made ahead of whoever takes them. Raises ParserLost."""
    process = await asyncio.to_thread(ParsingProcess)
    parsing = Parsing(process, first_id)
    sending = asyncio.create_task(parsing.send(chunks))
    receiving = asyncio.create_task(parsing.receive())
    try:
        yield parsing.rows(sending, receiving)
    finally:
        await asyncio.to_thread(process.end)
        await end(sending, receiving)
        await asyncio.to_thread(process.close)
