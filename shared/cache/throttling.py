"""Who failed too often is not looked at for a while: for attempts to sign in, and for bearers."""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from typing import ClassVar, Self

from shared.cache.cache import Cache
from shared.cache.failures import FailureCounter, KvCounter, ProcessCounter, failure_counters, subject_digest
from shared.cache.keys import KeyFamily
from shared.kernel.clock import Clock
from shared.kernel.errors import AppError, Kind


class SignInThrottled(AppError):
    """Too many failed attempts. Wait, then try again."""

    kind: ClassVar[Kind] = Kind.THROTTLED
    code: ClassVar[str] = "sign_in_throttled"


def not_proved(refusal: AppError) -> bool:
    """Whether the credential was refused, and not something else of the request."""
    return refusal.kind is Kind.UNAUTHENTICATED


@dataclass(slots=True)
class SignInThrottle:
    """Lets a subject fail so often and no more, also when all attempts come at the same time."""

    now: Clock
    counters: Sequence[FailureCounter]
    #: Which refusals are failures of whoever tries.
    is_failure: Callable[[AppError], bool] = not_proved
    #: Attempts that are under way; each may still fail.
    _held: Counter[str] = field(default_factory=Counter)

    @classmethod
    def on(cls, kv: Cache, family: KeyFamily, now: Clock) -> Self:
        """By the view of this process and that of all; one for the life of the process."""
        return cls(now, failure_counters(kv, family, now))

    @asynccontextmanager
    async def attempt(self, limits: Mapping[str, int]) -> AsyncIterator[None]:
        """Try to sign in as these subjects; a refusal of the credential counts. Raises SignInThrottled."""
        subjects = {subject_digest(subject): limit for subject, limit in limits.items()}
        # Held before the first await, so that parallel attempts see one another.
        self._held.update(subjects.keys())
        try:
            await self._check(subjects)
            yield
        except AppError as refusal:
            if self.is_failure(refusal):
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


@dataclass(slots=True)
class BearerThrottle:
    """Lets a source bring so many bad credentials. A good one costs no call to the tier.

    Bearers come with every request, so the tier is asked only when one was refused: its answer is the count
    of all processes, and this one goes by it from then on. Another process learns it at its own next refusal.
    """

    now: Clock
    limit: int
    here: ProcessCounter
    everywhere: KvCounter | None

    @classmethod
    def on(cls, kv: Cache, family: KeyFamily, now: Clock, limit: int) -> Self:
        """By the view of this process and that of all; one for the life of the process."""
        everywhere = KvCounter(kv, family, now) if kv.configured else None
        return cls(now, limit, ProcessCounter(now), everywhere)

    @asynccontextmanager
    async def attempt(self, source: str) -> AsyncIterator[None]:
        """Look at a credential from there; a refusal of it counts. Raises SignInThrottled."""
        subject = subject_digest(source)
        known = self.here.look(subject)
        if known.count >= self.limit:
            raise SignInThrottled(retry_after=known.ends_at - self.now())
        try:
            yield
        except AppError as refusal:
            if not_proved(refusal):
                await self._count(subject)
            raise

    async def _count(self, subject: str) -> None:
        await self.here.add(subject)
        if self.everywhere is not None:
            self.here.learn(subject, await self.everywhere.add(subject))
