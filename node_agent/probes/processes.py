"""One tool as a process group of its own: its lines as they come, and no survivor at the end."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

from node_agent.probes.commands import TOOL_DIRECTORIES, Command
from node_agent.probes.lines import LineSplitter
from shared.protocol.probes import OutputStream

#: The whole environment of a tool: messages in English, no variable of the agent's own.
TOOL_ENVIRONMENT = {"LC_ALL": "C", "LANG": "C", "PATH": ":".join(TOOL_DIRECTORIES)}
_CHUNK = 16_384
#: A tool that was asked to end has this long to print its last words.
_STOP_SECONDS = 1.0
#: After the tool's end, a child of it may still hold the pipes.
_DRAIN_SECONDS = 2.0
#: What was killed is gone at once; only a process that left the group could still hold a pipe.
_KILLED_SECONDS = 0.3

#: Takes one line; answers whether there is room for more.
TakeLine = Callable[[OutputStream, str], bool]


class Cause(StrEnum):
    """Why a tool did not end by itself."""

    DEADLINE = "deadline"
    OVERFLOW = "overflow"
    CANCELLED = "cancelled"


@dataclass(frozen=True, slots=True)
class Ended:
    """How the process ended, after its pipes were drained."""

    exit_code: int | None
    #: Why it was stopped; None when it ended by itself.
    cause: Cause | None = None


class ToolProcess:
    """Runs one command and hands out its lines."""

    def __init__(self, process: asyncio.subprocess.Process, command: Command, line_bytes: int) -> None:
        self._process = process
        self._command = command
        self._line_bytes = line_bytes
        self._cause: Cause | None = None
        self._stopped = asyncio.Event()

    @classmethod
    async def start(cls, command: Command, line_bytes: int) -> ToolProcess:
        """Start the command in its own session. Raises OSError when it cannot be executed."""
        process = await asyncio.create_subprocess_exec(
            *command.argv,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            env=TOOL_ENVIRONMENT,
            cwd="/",
            start_new_session=True,
        )
        return cls(process, command, line_bytes)

    def stop(self, cause: Cause) -> None:
        """Ask for the end; `run` carries it out. The first cause stays."""
        if not self._stopped.is_set():
            self._cause = cause
            self._stopped.set()

    async def run(self, take: TakeLine, seconds: float) -> Ended:
        """Hand every line to `take` until the tool ends, at the latest after `seconds`.

        When this returns or is cancelled, the process group is gone and both pipes are read to their end.
        """
        readers = [
            asyncio.create_task(self._read(self._process.stdout, OutputStream.STDOUT, take)),
            asyncio.create_task(self._read(self._process.stderr, OutputStream.STDERR, take)),
        ]
        exited = asyncio.create_task(self._process.wait())
        stopped = asyncio.create_task(self._stopped.wait())
        try:
            await asyncio.wait({exited, stopped}, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
            if not exited.done():
                self.stop(Cause.DEADLINE)
            await self._end(exited, readers)
        finally:
            self._signal(signal.SIGKILL)
            await asyncio.wait({exited, *readers}, timeout=_KILLED_SECONDS)
            for task in (exited, stopped, *readers):
                task.cancel()
            await asyncio.gather(exited, stopped, *readers, return_exceptions=True)
        return Ended(self._process.returncode, self._cause)

    async def _end(self, exited: asyncio.Task[int], readers: list[asyncio.Task[None]]) -> None:
        if not exited.done():
            self._signal(self._command.stop_signal)
            await asyncio.wait({exited}, timeout=_STOP_SECONDS)
        if self._cause is not None:
            self._signal(signal.SIGKILL)
            await asyncio.wait({exited}, timeout=_KILLED_SECONDS)
        _, left = await asyncio.wait(readers, timeout=_KILLED_SECONDS if self._cause else _DRAIN_SECONDS)
        if left:
            self._signal(signal.SIGKILL)
            await asyncio.wait(left, timeout=_KILLED_SECONDS)

    def _signal(self, number: signal.Signals) -> None:
        # The group outlives its leader while any member lives, so the number cannot be another's yet.
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, number)

    async def _read(self, pipe: asyncio.StreamReader | None, stream: OutputStream, take: TakeLine) -> None:
        assert pipe is not None  # noqa: S101 - both pipes are asked for in `start`
        splitter = LineSplitter(self._line_bytes)
        while data := await pipe.read(_CHUNK):
            self._hand_on(splitter.feed(data), stream, take)
        self._hand_on(splitter.finish(), stream, take)

    def _hand_on(self, lines: list[str], stream: OutputStream, take: TakeLine) -> None:
        for line in lines:
            if self._cause is Cause.OVERFLOW:
                return
            if not take(stream, line):
                self.stop(Cause.OVERFLOW)
