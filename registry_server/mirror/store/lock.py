"""One sync of a bare repository at a time, in this process and among those that share the directory."""

from __future__ import annotations

import asyncio
import fcntl
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

from registry_server.mirror.errors import SyncRunning


@dataclass(frozen=True, slots=True)
class SyncLock:
    """Within the process others wait; another process is refused. The kernel frees it, however we end."""

    path: Path
    _within: asyncio.Lock = field(default_factory=asyncio.Lock)
    _waiting: set[object] = field(default_factory=set)

    @property
    def awaited(self) -> bool:
        """Whether somebody of this process waits for it."""
        return bool(self._waiting)

    @asynccontextmanager
    async def hold(self) -> AsyncIterator[None]:
        """Hold it for the body. Raises SyncRunning where another process holds it."""
        turn = object()
        self._waiting.add(turn)
        try:
            await self._within.acquire()
        finally:
            self._waiting.discard(turn)
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            descriptor = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
            try:
                try:
                    fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                except BlockingIOError:
                    raise SyncRunning from None
                yield
            finally:
                os.close(descriptor)
        finally:
            self._within.release()
