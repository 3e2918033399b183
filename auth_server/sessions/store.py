"""What a process remembers of sign-in without writing it: last uses, and failed attempts."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Protocol
from uuid import UUID

from auth_server.keys import SIGN_IN_FAILURES
from auth_server.sessions.errors import SignInThrottled
from shared.cache import Cache, TierUnavailable
from shared.kernel.clock import Clock
from shared.kernel.errors import AppError, Kind

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


@dataclass(slots=True)
class SignInThrottle:
    """Lets a subject fail so often and no more, also when all attempts come at the same time."""

    now: Clock
    counters: Sequence[FailureCounter]
    #: Attempts that are under way; each may still fail.
    _held: Counter[str] = field(default_factory=Counter)

    @asynccontextmanager
    async def attempt(self, limits: Mapping[str, int]) -> AsyncIterator[None]:
        """Try to sign in as these subjects; a refusal of the credential counts. Raises SignInThrottled."""
        subjects = {_digest(subject): limit for subject, limit in limits.items()}
        # Held before the first await, so that parallel attempts see one another.
        self._held.update(subjects.keys())
        try:
            await self._check(subjects)
            yield
        except AppError as refusal:
            if refusal.kind is Kind.UNAUTHENTICATED:
                for subject in subjects:
                    for counter in self.counters:
                        await counter.add(subject)
            raise
        finally:
            self._held.subtract(subjects.keys())
            self._held += Counter()

    async def _check(self, subjects: Mapping[str, int]) -> None:
        for subject, limit in subjects.items():
            views = [await counter.read(subject) for counter in self.counters]
            worst = max(views, key=lambda view: view.count)
            if worst.count + self._held[subject] > limit:
                until = worst.ends_at - self.now() if worst.count >= limit else timedelta(seconds=1)
                raise SignInThrottled(retry_after=until)


def _digest(subject: str) -> str:
    return hashlib.sha256(subject.encode()).hexdigest()
