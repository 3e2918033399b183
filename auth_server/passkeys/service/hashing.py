"""argon2 in a few threads of its own: never on the event loop, and never more than the machine bears."""

from __future__ import annotations

import asyncio
import os
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import timedelta
from functools import partial
from typing import TypeVar

from argon2 import PasswordHasher
from argon2.exceptions import VerificationError

from auth_server.passkeys.errors import HashingBusy

R = TypeVar("R")

_THREADS = 2
#: The event loop comes first wherever both want the same core; whoever signs in with a code can wait.
_NICENESS = 19
#: Beyond these nobody waits: each takes tens of milliseconds and 19 MiB.
_MOST_WAITING = 64


def _hasher() -> PasswordHasher:
    """The least that OWASP names for argon2id; the secrets are random, not chosen by people."""
    return PasswordHasher(time_cost=2, memory_cost=19_456, parallelism=1)


def _stand_back() -> None:
    """Give this thread the least of the processor, where threads have a share of their own (Linux)."""
    if sys.platform == "linux":
        os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), _NICENESS)


@dataclass(slots=True)
class SlowHashes:
    """Makes and checks hashes of recovery codes."""

    hasher: PasswordHasher = field(default_factory=_hasher)
    _pool: ThreadPoolExecutor = field(
        default_factory=lambda: ThreadPoolExecutor(_THREADS, "argon2", initializer=_stand_back)
    )
    #: How many were compared, right or wrong.
    checked: int = 0
    _waiting: int = 0
    _decoy: str = ""

    async def hash_all(self, texts: list[str]) -> list[str]:
        """The hashes, in order. Raises HashingBusy."""
        return await self._run(lambda: [self.hasher.hash(text) for text in texts])

    async def matches(self, text: str, digest: str | None) -> bool:
        """Whether the hash is that of the text; None takes as long as a wrong one. Raises HashingBusy."""
        good = await self._run(partial(self._matches, text, digest))
        self.checked += 1
        return good

    def _matches(self, text: str, digest: str | None) -> bool:
        if digest is None and not self._decoy:
            self._decoy = self.hasher.hash("decoy")
        try:
            self.hasher.verify(digest or self._decoy, text)
        except VerificationError:
            return False
        return digest is not None

    async def _run(self, work: Callable[[], R]) -> R:
        if self._waiting >= _MOST_WAITING:
            raise HashingBusy(retry_after=timedelta(seconds=2))
        self._waiting += 1
        try:
            return await asyncio.get_running_loop().run_in_executor(self._pool, work)
        finally:
            self._waiting -= 1
