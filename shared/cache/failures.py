"""How often a credential of somebody failed: counted by each process, and over all of them on the kv tier."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Protocol

from shared.cache.cache import Cache
from shared.cache.errors import TierUnavailable
from shared.cache.keys import KeyFamily
from shared.kernel.clock import Clock

#: The key index: a counter of failures ends 900 s after the first one, whatever follows it.
WINDOW = timedelta(seconds=900)
#: Subjects that one process counts; beyond them the oldest windows are forgotten.
_MOST_SUBJECTS = 50_000


@dataclass(frozen=True, slots=True)
class Failures:
    """How often a subject failed in its window, and when that ends."""

    count: int
    ends_at: datetime


class FailureCounter(Protocol):
    """One view of the failures; the verdict is by the view that saw the most."""

    async def read(self, subject: str) -> Failures:
        """The failures so far."""

    async def add(self, subject: str) -> Failures:
        """One more, in one step that cannot be lost beside another; with it, the failures so far."""


@dataclass(slots=True)
class ProcessCounter:
    """Failures that this process saw: a fixed window from the first one."""

    now: Clock
    _windows: dict[str, Failures] = field(default_factory=dict)

    async def read(self, subject: str) -> Failures:
        """The failures so far."""
        return self.look(subject)

    async def add(self, subject: str) -> Failures:
        """One more. There is no await between the look and the note, so none is lost."""
        known = self.look(subject)
        return self._keep(subject, Failures(known.count + 1, known.ends_at))

    def learn(self, subject: str, told: Failures) -> None:
        """Another view saw more; go by it until its window ends."""
        if told.count > self.look(subject).count:
            self._keep(subject, told)

    def forget(self) -> None:
        """Forgive everybody."""
        self._windows.clear()

    def look(self, subject: str) -> Failures:
        """The failures so far, without asking anybody."""
        known = self._windows.get(subject)
        if known is not None and known.ends_at > self.now():
            return known
        self._windows.pop(subject, None)
        return Failures(0, self.now() + WINDOW)

    def _keep(self, subject: str, failures: Failures) -> Failures:
        if subject not in self._windows and len(self._windows) >= _MOST_SUBJECTS:
            del self._windows[next(iter(self._windows))]
        self._windows[subject] = failures
        return failures


@dataclass(frozen=True, slots=True)
class KvCounter:
    """Failures that every process saw; none without the tier, where the view of the process decides."""

    kv: Cache
    family: KeyFamily
    now: Clock

    async def read(self, subject: str) -> Failures:
        """The failures so far."""
        with suppress(TierUnavailable):
            counted = await self.kv.read_counter(self.family.key(subject=subject))
            if counted is not None:
                return self._failures(counted.value, counted.ttl_seconds)
        return self._none()

    async def add(self, subject: str) -> Failures:
        """One more; the end is fixed at the first."""
        with suppress(TierUnavailable):
            seconds = WINDOW.total_seconds()
            counted = await self.kv.increment(self.family.key(subject=subject), ttl_seconds=seconds)
            return self._failures(counted.value, counted.ttl_seconds)
        return self._none()

    def _failures(self, count: int, seconds: float) -> Failures:
        return Failures(count, self.now() + timedelta(seconds=seconds))

    def _none(self) -> Failures:
        return Failures(0, self.now() + WINDOW)


def failure_counters(kv: Cache, family: KeyFamily, now: Clock) -> Sequence[FailureCounter]:
    """The view of this process, and that of all of them where there is a tier."""
    here: list[FailureCounter] = [ProcessCounter(now)]
    return [*here, KvCounter(kv, family, now)] if kv.configured else here


def subject_digest(subject: str) -> str:
    """What stands in the key: never the name or the address itself."""
    return hashlib.sha256(subject.encode()).hexdigest()
