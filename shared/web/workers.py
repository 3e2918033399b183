"""Several processes of one service on one socket: started, watched, replaced when they die, stopped."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import socket
import sys
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import structlog

from shared.kernel.errors import AppError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from shared.web.settings import WebSettings

log = structlog.get_logger(__name__)

_LISTENER = "ROUTELOOM_LISTENER_FD"
_PARENT = "ROUTELOOM_PARENT_FD"
_BACKLOG = 512
_PAUSE_SECONDS = 1.0
_STOP_SECONDS = 15.0


class WorkersNeedKv(AppError):
    """More than one worker needs the kv tier: else they know nothing of each other's agents and probes."""

    code = "workers_need_kv"


def check_workers(settings: Any) -> None:
    """Raises WorkersNeedKv for several workers of a service that lacks the kv tier they share."""
    kv = getattr(settings, "kv", None)
    if settings.web.workers > 1 and kv is not None and kv.url is None:
        raise WorkersNeedKv(
            f"{settings.web.workers} workers need the kv tier, and none is configured: what begins at one"
            " worker, a probe or a sign-in, could not go on at another. Set KV__URL, or run one worker."
        )


def inherited_listener() -> socket.socket | None:
    """The socket that the parent gave to this worker; None in a process that is nobody's worker."""
    number = os.environ.get(_LISTENER)
    return socket.socket(fileno=int(number)) if number else None


@contextlib.contextmanager
def ending_with_parent(end: Callable[[], None]) -> Iterator[None]:
    """Call `end` when the parent is gone, however it went; nothing happens in nobody's worker."""
    number = os.environ.get(_PARENT)
    if not number:
        yield
        return
    loop = asyncio.get_running_loop()

    def gone() -> None:
        loop.remove_reader(int(number))
        end()

    loop.add_reader(int(number), gone)
    try:
        yield
    finally:
        loop.remove_reader(int(number))


@dataclass(slots=True)
class Supervisor:
    """Keeps so many workers alive until it is told to stop."""

    command: Sequence[str]
    web: WebSettings
    _stopping: asyncio.Event = field(default_factory=asyncio.Event)
    #: The exit status of a worker that cannot start: the others could not either.
    _refused: int = 0

    async def run(self) -> int:
        """Serve until a signal; the exit status, which is that of a worker that refuses to start."""
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, self._stopping.set)
        reading, writing = os.pipe()
        with _listening(self.web) as listener:
            log.info("workers.starting", count=self.web.workers, port=listener.getsockname()[1])
            try:
                async with asyncio.TaskGroup() as group:
                    for _ in range(self.web.workers):
                        group.create_task(self._keep_one(listener, reading))
            finally:
                os.close(writing)
                os.close(reading)
        return self._refused

    async def _keep_one(self, listener: socket.socket, parent: int) -> None:
        while not self._stopping.is_set():
            worker = await self._start(listener, parent)
            status = await self._until_it_ends(worker)
            if self._stopping.is_set():
                return
            if status in _REFUSALS:
                self._refused = status
                self._stopping.set()
                return
            log.error("worker.died", pid=worker.pid, status=status)
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(_PAUSE_SECONDS):
                    await self._stopping.wait()

    async def _start(self, listener: socket.socket, parent: int) -> asyncio.subprocess.Process:
        numbers = {_LISTENER: str(listener.fileno()), _PARENT: str(parent)}
        return await asyncio.create_subprocess_exec(
            *self.command, env=os.environ | numbers, pass_fds=(listener.fileno(), parent)
        )

    async def _until_it_ends(self, worker: asyncio.subprocess.Process) -> int:
        ended = asyncio.create_task(worker.wait())
        stopped = asyncio.create_task(self._stopping.wait())
        await asyncio.wait({ended, stopped}, return_when=asyncio.FIRST_COMPLETED)
        stopped.cancel()
        if not ended.done():
            worker.terminate()
            await asyncio.wait({ended}, timeout=_STOP_SECONDS)
            if not ended.done():
                worker.kill()
        return await ended


#: Exit statuses (sysexits.h) of a process that cannot start as it is configured.
_REFUSALS = frozenset({78, 69})


def worker_command(package: str, workers: int) -> list[str]:
    """What starts one worker."""
    return [sys.executable, "-m", package, "serve", "--workers", str(workers)]


@contextlib.contextmanager
def _listening(web: WebSettings) -> Iterator[socket.socket]:
    family = socket.AF_INET6 if ":" in web.host else socket.AF_INET
    with socket.create_server((web.host, web.port), family=family, backlog=_BACKLOG) as listener:
        listener.setblocking(False)  # noqa: FBT003 - the socket module's own signature
        yield listener
