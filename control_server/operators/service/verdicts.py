"""What the sign-in service last said, asked anew after a second, and good for a while when it is away."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Generic, TypeVar

from control_server.operators.errors import AuthAway
from control_server.settings import SignInSettings
from shared.kernel.clock import Clock

#: Answers remembered by one process; beyond them the oldest are asked for again.
_MOST = 10_000
#: With the sign-in service away it is not asked again for so long, so that requests do not queue for it.
_PAUSE = timedelta(seconds=1)

T = TypeVar("T")


@dataclass(slots=True)
class Verdict(Generic[T]):
    """What was said last about one thing; None for no."""

    said: T | None = None
    checked_at: datetime | None = None
    asking: asyncio.Lock = field(default_factory=asyncio.Lock)


@dataclass(slots=True)
class Verdicts(Generic[T]):
    """The answers of one kind of question, in one process."""

    settings: SignInSettings
    now: Clock
    _verdicts: OrderedDict[str, Verdict[T]] = field(default_factory=OrderedDict)
    _quiet_until: datetime | None = None

    async def of(self, key: str, ask: Callable[[], Awaitable[T | None]]) -> T | None:
        """The answer, at most `grant_fresh` old, or `grant_stale` while nobody answers. Raises AuthAway."""
        verdict = self._verdict_of(key)
        async with verdict.asking:
            if not self._younger(verdict, self.settings.grant_fresh):
                await self._renew(verdict, ask)
        return verdict.said

    async def _renew(self, verdict: Verdict[T], ask: Callable[[], Awaitable[T | None]]) -> None:
        try:
            said = await self._asked(ask)
        except AuthAway:
            if not self._younger(verdict, self.settings.grant_stale):
                raise
            return
        verdict.said = said
        verdict.checked_at = self.now()

    async def _asked(self, ask: Callable[[], Awaitable[T | None]]) -> T | None:
        if self._quiet_until is not None and self.now() < self._quiet_until:
            raise AuthAway(retry_after=_PAUSE)
        try:
            return await ask()
        except AuthAway:
            self._quiet_until = self.now() + _PAUSE
            raise

    def _younger(self, verdict: Verdict[T], age: timedelta) -> bool:
        return verdict.checked_at is not None and self.now() - verdict.checked_at < age

    def _verdict_of(self, key: str) -> Verdict[T]:
        verdict = self._verdicts.setdefault(key, Verdict())
        self._verdicts.move_to_end(key)
        while len(self._verdicts) > _MOST:
            self._verdicts.popitem(last=False)
        return verdict
