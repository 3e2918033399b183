"""What a process remembers of sign-in without writing it: last uses, and failed attempts."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Protocol
from uuid import UUID

from auth_server.keys import SIGN_IN_FAILURES
from shared.cache import Cache, TierUnavailable
from shared.kernel.clock import Clock

#: The key index: a counter of failures ends 900 s after the first one, whatever follows it.
WINDOW = timedelta(seconds=900)
#: Subjects that one process counts; beyond them the oldest windows are forgotten.
_MOST_SUBJECTS = 50_000


@dataclass(slots=True)
class LastUses:
    """When sessions were last used, gathered so that a request that only reads never writes."""

    _uses: dict[UUID, datetime] = field(default_factory=dict)

    def note(self, session_id: UUID, at: datetime) -> None:
        """The session was used now."""
        self._uses[session_id] = at

    def latest(self, session_id: UUID, written: datetime) -> datetime:
        """The last use, be it written yet or not."""
        return max(written, self._uses.get(session_id, written))

    def take(self) -> dict[UUID, datetime]:
        """What is to be written; gathered anew from here."""
        taken, self._uses = self._uses, {}
        return taken


@dataclass(frozen=True, slots=True)
class Failures:
    """How often a subject failed in its window, and when that ends."""

    count: int
    ends_at: datetime


class FailureCounter(Protocol):
    """One view of the failures; the verdict is by the view that saw the most."""

    async def read(self, subject: str) -> Failures:
        """The failures so far."""

    async def add(self, subject: str) -> None:
        """One more, in one step that cannot be lost beside another."""


@dataclass(slots=True)
class ProcessCounter:
    """Failures that this process saw: a fixed window from the first one."""

    now: Clock
    _windows: dict[str, Failures] = field(default_factory=dict)

    async def read(self, subject: str) -> Failures:
        """The failures so far."""
        return self._read(subject)

    async def add(self, subject: str) -> None:
        """One more. There is no await between the look and the note, so none is lost."""
        known = self._read(subject)
        if subject not in self._windows and len(self._windows) >= _MOST_SUBJECTS:
            del self._windows[next(iter(self._windows))]
        self._windows[subject] = Failures(known.count + 1, known.ends_at)

    def _read(self, subject: str) -> Failures:
        known = self._windows.get(subject)
        if known is not None and known.ends_at > self.now():
            return known
        self._windows.pop(subject, None)
        return Failures(0, self.now() + WINDOW)


@dataclass(frozen=True, slots=True)
class KvCounter:
    """Failures that every process saw; none without the tier, where the view of the process decides."""

    kv: Cache
    now: Clock

    async def read(self, subject: str) -> Failures:
        """The failures so far."""
        try:
            counted = await self.kv.read_counter(SIGN_IN_FAILURES.key(subject=subject))
        except TierUnavailable:
            counted = None
        if counted is None:
            return Failures(0, self.now() + WINDOW)
        return Failures(counted.value, self.now() + timedelta(seconds=counted.ttl_seconds))

    async def add(self, subject: str) -> None:
        """One more; the end is fixed at the first."""
        with suppress(TierUnavailable):
            await self.kv.increment(SIGN_IN_FAILURES.key(subject=subject), ttl_seconds=WINDOW.total_seconds())


def failure_counters(kv: Cache, now: Clock) -> list[FailureCounter]:
    """The view of this process, and that of all of them where there is a tier."""
    here: list[FailureCounter] = [ProcessCounter(now)]
    return [*here, KvCounter(kv, now)] if kv.configured else here
