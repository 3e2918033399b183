"""Runs git: arguments never through a shell, no prompt, a time limit, and no more output than asked for."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import AsyncIterator, Awaitable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any

from registry_server.mirror.errors import RepositoryBroken, UpstreamUnavailable
from registry_server.mirror.rules.output import redact
from registry_server.mirror.store.printing import Printing, open_pipe

#: What git itself is told to allow: no transport that runs a command of the URL's choosing.
_PROTOCOLS = "file:https:ssh"
#: All others read what is here. Objects that are missing are not fetched for them: a repository's own
#: configuration says from where and by which command, and that may be a stranger's.
_REMOTE = frozenset({"fetch", "ls-remote"})
_SETTINGS = (
    "-c",
    "core.hooksPath=/dev/null",
    "-c",
    "gc.auto=0",
    "-c",
    "maintenance.auto=false",
    "-c",
    "core.fsmonitor=false",
    "-c",
    "fetch.recurseSubmodules=false",
)
#: For commands that read each tree once, and so need few of what these were made of again: memory that is new
#: costs more than that.
_ONCE = ("-c", "core.deltaBaseCacheLimit=16m")
_READING_ONCE = frozenset({"diff-tree", "ls-tree"})
#: Memory of glibc by the huge page: to get it by the small one is half of what git takes for large trees.
_MEMORY = "glibc.malloc.hugetlb=1:glibc.malloc.top_pad=8388608"
_STDERR_BYTES = 65_536
_READ_BYTES = 262_144


class GitFailed(Exception):
    """Git ended with an exit code that is not 0, or did not end in time."""

    def __init__(self, message: str) -> None:
        """Keep what git said."""
        super().__init__(message)
        self.message = message


@dataclass(frozen=True, slots=True)
class Git:
    """Commands on one bare repository."""

    directory: Path
    time_limit: timedelta

    async def run(self, *arguments: str, stdin: bytes = b"", most_bytes: int = 256 << 20) -> bytes:
        """What the command prints. Raises GitFailed, or RepositoryBroken for too much output."""
        process = await self._start(arguments)
        try:
            async with asyncio.timeout(self.time_limit.total_seconds()):
                _, output, errors = await asyncio.gather(
                    _feed(process, stdin),
                    _collect(process.stdout, most_bytes),
                    _collect(process.stderr, None),
                )
                exit_code = await process.wait()
        except TimeoutError:
            raise self._too_slow(arguments[0]) from None
        finally:
            await _end(process)
        if exit_code:
            raise GitFailed(redact(errors.decode(errors="replace").strip()[-1000:]))
        return output

    @asynccontextmanager
    async def printing(
        self, *arguments: str, stdin: bytes | Awaitable[bytes] = b""
    ) -> AsyncIterator[Printing]:
        """The command while it prints. Raises as `run`, at the end of the body or when that is asked for.

        What it is given may follow: until then the command has begun already.
        """
        ours, theirs = open_pipe()
        try:
            try:
                process = await self._start(arguments, theirs)
            finally:
                os.close(theirs)
            printing = Printing(ours, self.time_limit, partial(_kill, process))
            beside = asyncio.gather(_feed(process, stdin), _collect(process.stderr, None))

            async def finish() -> None:
                async with asyncio.timeout(printing.left):
                    _, errors = await beside
                    exit_code = await process.wait()
                if exit_code:
                    raise GitFailed(redact(errors.decode(errors="replace").strip()[-1000:]))

            printing.finish = finish
            try:
                yield printing
                await finish()
            except TimeoutError:
                raise self._too_slow(arguments[0]) from None
            finally:
                beside.cancel()
                await _end(process)
                await printing.settle()
                await _ended(beside)
        finally:
            os.close(ours)

    def _too_slow(self, command: str) -> GitFailed:
        """Says nothing of the repository: who is slow may be the other side."""
        return GitFailed(f"git {command} took longer than {self.time_limit}")

    async def _start(
        self, arguments: tuple[str, ...], output: int = asyncio.subprocess.PIPE
    ) -> asyncio.subprocess.Process:
        environment = {
            **{name: value for name, value in os.environ.items() if not name.startswith("GIT_")},
            "GIT_DIR": str(self.directory),
            "GIT_TERMINAL_PROMPT": "0",
            "GIT_ASKPASS": "",
            "SSH_ASKPASS": "",
            "GIT_SSH_COMMAND": os.environ.get("GIT_SSH_COMMAND", "ssh -o BatchMode=yes -o ConnectTimeout=20"),
            "GIT_ALLOW_PROTOCOL": _PROTOCOLS if arguments[0] in _REMOTE else "",
            "GIT_NO_LAZY_FETCH": "1",
            "GIT_NO_REPLACE_OBJECTS": "1",
            "GIT_OPTIONAL_LOCKS": "0",
            "GLIBC_TUNABLES": os.environ.get("GLIBC_TUNABLES", _MEMORY),
            "LC_ALL": "C",
        }
        try:
            return await asyncio.create_subprocess_exec(
                "git",
                *_SETTINGS,
                *(_ONCE if arguments[0] in _READING_ONCE else ()),
                *arguments,
                stdin=asyncio.subprocess.PIPE,
                stdout=output,
                stderr=asyncio.subprocess.PIPE,
                env=environment,
                start_new_session=True,
                limit=_READ_BYTES,
            )
        except FileNotFoundError:
            raise UpstreamUnavailable("git is not installed") from None


async def _feed(process: asyncio.subprocess.Process, text: bytes | Awaitable[bytes]) -> None:
    stdin = process.stdin
    if stdin is None:
        return
    given = text if isinstance(text, bytes) else await text
    try:
        stdin.write(given)
        await stdin.drain()
        stdin.close()
    except (BrokenPipeError, ConnectionResetError, RuntimeError):
        return  # it ended early, its exit code says why; uvloop calls a pipe that is closed a RuntimeError


async def _collect(stream: asyncio.StreamReader | None, most_bytes: int | None) -> bytes:
    """All of the stream; with no limit its end only, so that a chatty command costs no memory."""
    pieces = bytearray()
    while stream is not None and (piece := await stream.read(_READ_BYTES)):
        pieces += piece
        if most_bytes is None:
            del pieces[:-_STDERR_BYTES]
        elif len(pieces) > most_bytes:
            raise RepositoryBroken(f"git printed more than {most_bytes} bytes")
    return bytes(pieces)


async def _ended(beside: asyncio.Future[Any]) -> None:
    """Wait for what was cancelled, and look at what became of it, so that nobody is told that none did."""
    await asyncio.wait([beside])
    if not beside.cancelled():
        beside.exception()


async def _end(process: asyncio.subprocess.Process) -> None:
    """Leave nothing running, not even what git started itself."""
    if _kill(process):
        await process.wait()


def _kill(process: asyncio.subprocess.Process) -> bool:
    """False where it has ended by itself."""
    if process.returncode is not None:
        return False
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        return False
    return True
