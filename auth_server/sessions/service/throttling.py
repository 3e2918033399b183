"""How often somebody may fail to sign in."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import timedelta

from auth_server.sessions.errors import SignInThrottled
from auth_server.sessions.store import FailureCounter
from shared.kernel.clock import Clock
from shared.kernel.errors import AppError, Kind


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
