"""One process for one state directory."""

from __future__ import annotations

import fcntl
import os
from typing import TYPE_CHECKING, Self

from shared.kernel.errors import AppError, Kind

if TYPE_CHECKING:
    from pathlib import Path


class AlreadyRunning(AppError):
    """Another process uses this state directory."""

    kind = Kind.CONFLICT
    code = "already_running"


class InstanceLock:
    """An advisory lock that the kernel frees when the process ends, however it ends."""

    def __init__(self, path: Path) -> None:
        """Lock `path`, which is created if need be and then holds the process id."""
        self._path = path
        self._descriptor: int | None = None

    def __enter__(self) -> Self:
        """Take the lock. Raises AlreadyRunning with the holder's process id."""
        descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            holder = os.pread(descriptor, 32, 0).decode(errors="replace").strip()
            os.close(descriptor)
            raise AlreadyRunning(
                f"{self._path.parent} is in use by process {holder or 'unknown'}; stop that one first,"
                " or choose another directory"
            ) from None
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, f"{os.getpid()}\n".encode(), 0)
        self._descriptor = descriptor
        return self

    def __exit__(self, *exc: object) -> None:
        """Free the lock; the file stays."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None

    @property
    def descriptor(self) -> int | None:
        """The open descriptor while the lock is held."""
        return self._descriptor
