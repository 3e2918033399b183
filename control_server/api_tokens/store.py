"""Limits of access tokens in the runtime state: counters that may vanish and never keep a good token out."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta

import structlog

from control_server.api_tokens.errors import ApiTokenLockedOut, ApiTokenThrottled
from control_server.runtime_keys import PAT_AUTH_FAIL, PAT_LAST_USED_THROTTLE, PAT_LOCKOUT, PAT_RATE_LIMIT
from control_server.settings import ApiTokenSettings
from shared.kernel.clock import Clock
from shared.runtime_state import RedisRuntimeClient, RuntimeStateUnavailable

log = structlog.get_logger(__name__)

_WINDOW = PAT_RATE_LIMIT.ttl
#: After a failed call the store is left alone, so that requests do not each wait for its deadline.
_REST_SECONDS = 1.0
_MISSING = -2
_WITHOUT_END = -1


@dataclass(slots=True)
class TokenLimits:
    """Counts requests and failures. Whatever the store does, no good token is refused for its sake."""

    state: RedisRuntimeClient
    settings: ApiTokenSettings
    now: Clock
    ticks: Callable[[], float] = time.monotonic
    _rests_until: float = field(default=float("-inf"), init=False)

    async def check_lockout(self, source: str) -> None:
        """Raises ApiTokenLockedOut while tokens from there are not looked at."""
        left = _MISSING
        with self._failing_open():
            if self._asks:
                left = await self.state.ttl(PAT_LOCKOUT.key(source=source))
        if left != _MISSING:
            raise ApiTokenLockedOut(retry_after=timedelta(seconds=max(1, left)))

    async def count_failure(self, source: str) -> None:
        """Note a refused token; the one that is too many locks its source out, once."""
        with self._failing_open():
            if not self._asks:
                return
            count, _ = await self._count(PAT_AUTH_FAIL.key(source=source), PAT_AUTH_FAIL.ttl)
            if count < self.settings.failures_per_minute:
                return
            lockout = timedelta(seconds=self.settings.lockout_seconds)
            if await self.state.set(PAT_LOCKOUT.key(source=source), count, ex=lockout, nx=True):
                log.warning("api_token_source_locked_out", source=source, failures=count)

    async def count_request(self, token_id: str) -> None:
        """Note a request of a good token. Raises ApiTokenThrottled for one that is too many."""
        count, left = 0, 0
        with self._failing_open():
            if self._asks:
                count, left = await self._count(PAT_RATE_LIMIT.key(token_id=token_id), _WINDOW)
        if count > self.settings.requests_per_minute:
            raise ApiTokenThrottled(retry_after=timedelta(seconds=max(1, left)))

    async def use_is_due(self, token_id: str, last_used_at: datetime | None) -> bool:
        """Whether this use is to be written to SQL; without the store, SQL's own instant decides."""
        with self._failing_open():
            if self._asks:
                key = PAT_LAST_USED_THROTTLE.key(token_id=token_id)
                return await self.state.set(key, 1, ex=PAT_LAST_USED_THROTTLE.ttl, nx=True)
        return last_used_at is None or self.now() - last_used_at >= PAT_LAST_USED_THROTTLE.ttl

    async def _count(self, key: str, window: timedelta) -> tuple[int, int]:
        """One more, and the seconds until the count begins anew.

        A process that was cut off between the two steps leaves a counter without an end; the next attempt
        gives it one, so nobody is locked out for ever.
        """
        count = await self.state.incr(key)
        left = await self.state.ttl(key)
        if left == _WITHOUT_END:
            await self.state.expire(key, window)
            left = int(window.total_seconds())
        return count, left

    @property
    def _asks(self) -> bool:
        return self.ticks() >= self._rests_until

    @contextmanager
    def _failing_open(self) -> Iterator[None]:
        try:
            yield
        except RuntimeStateUnavailable as error:
            self._rests_until = self.ticks() + _REST_SECONDS
            log.warning("api_token_limits_unavailable", code=error.code)
