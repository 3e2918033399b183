"""The background prober: looks at a tier every two seconds, so that no request has to."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Callable
from datetime import timedelta

from shared.cache.breaker import BreakerState
from shared.cache.cache import Cache
from shared.cache.diagnosis import sentence_for, sentence_of
from shared.cache.errors import Reason
from shared.cache.health import Problem, TierHealth, TierState, problems_of
from shared.cache.information import TierInformation, parse_information
from shared.cache.replies import ErrorReply, RawErrorReply
from shared.cache.tier import Tier
from shared.cache.transport import ExchangeFailed, Line
from shared.kernel.loops import Loop

INTERVAL = timedelta(seconds=2)
#: One blip must not take every replica out together.
_FAILURES_IN_A_ROW = 2
_PROBE_WITHIN = 1.0
#: Growth is judged over five minutes of probes, and not before half a minute of them.
_SAMPLES = 150
_SHORTEST_TREND = 30.0
_TOO_LATE = ExchangeFailed(Reason.DEADLINE, sent=True)


class TierProber:
    """Probes over a connection of its own, past breaker and pool, and keeps the last finding."""

    def __init__(self, cache: Cache, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._cache = cache
        self._monotonic = monotonic
        self._line: Line | None = None
        self._failures = 0
        self._memory: deque[tuple[float, int]] = deque(maxlen=_SAMPLES)
        state = TierState.UNKNOWN if cache.configured else TierState.ABSENT
        self.health = TierHealth(cache.tier, state)
        self.information: TierInformation | None = None

    def loop(self) -> Loop:
        """The loop to run beside the service."""
        return Loop(f"probe_{self._cache.tier}", self.probe_once, INTERVAL)

    async def probe_once(self) -> None:
        """Look once; never raises for a tier that does not answer."""
        if not self._cache.configured:
            return
        began = self._monotonic()
        try:
            async with asyncio.timeout(_PROBE_WITHIN):
                seen = await self._ask()
        except (ExchangeFailed, TimeoutError) as error:
            failed = error if isinstance(error, ExchangeFailed) else _TOO_LATE
            await self._missed(failed)
        else:
            self._saw(seen, self._monotonic() - began)

    async def aclose(self) -> None:
        """Close the prober's connection."""
        line, self._line = self._line, None
        if line is not None:
            await line.close()

    async def _ask(self) -> TierInformation:
        if self._line is None:
            transport = self._cache.gateway.transport
            if transport is None:
                raise ExchangeFailed(Reason.NOT_CONFIGURED, sent=False)
            self._line = transport.line()
            await self._line.open()
        await self._line.send("INFO")
        reply = await self._line.receive()
        if isinstance(reply, ErrorReply):
            raise ExchangeFailed(reply.reason, sent=True, met=sentence_of(RawErrorReply(reply.text)))
        return parse_information(reply.decode("utf-8", "replace"))

    async def _missed(self, failed: ExchangeFailed) -> None:
        await self.aclose()
        self._failures += 1
        gateway = self._cache.gateway
        gateway.observer.probed(self._cache.tier, False, None, None)  # noqa: FBT003 - a measurement
        if self._failures >= _FAILURES_IN_A_ROW:
            encrypted = gateway.transport is not None and gateway.transport.encrypted
            said = failed.met or sentence_for(failed.reason, encrypted=encrypted)
            problem = Problem(failed.reason, said)
            gateway.alarms.ring("tier_unavailable", failed.reason, message=problem.message)
            self.health = TierHealth(self._cache.tier, TierState.UNAVAILABLE, problems=(problem,))

    def _saw(self, seen: TierInformation, latency: float) -> None:
        cache, gateway = self._cache, self._cache.gateway
        self._failures = 0
        self._memory.append((self._monotonic(), seen.used_bytes))
        problems = problems_of(cache.tier, cache.database, seen)
        for problem in problems:
            gateway.alarms.ring("tier_problem", problem.code, message=problem.message)
        kv = cache.tier is Tier.KV
        self.information = seen
        self.health = TierHealth(
            cache.tier,
            TierState.DEGRADED if problems else TierState.OK,
            latency_seconds=latency,
            memory_share=seen.memory_share if kv else None,
            keys_without_ttl=seen.keys_without_ttl(cache.database) if kv else None,
            seconds_to_full=self._seconds_to_full(seen) if kv else None,
            problems=problems,
        )
        gateway.observer.probed(
            cache.tier,
            True,  # noqa: FBT003 - a measurement
            seen.memory_share,
            seen.keys_without_ttl(cache.database),
        )
        if gateway.breaker.state is not BreakerState.CLOSED:
            gateway.breaker.recover("probe_answered")

    def _seconds_to_full(self, seen: TierInformation) -> float | None:
        (first_at, first), (last_at, last) = self._memory[0], self._memory[-1]
        if not seen.limit_bytes or last_at - first_at < _SHORTEST_TREND or last <= first:
            return None
        return max(0.0, (seen.limit_bytes - last) / ((last - first) / (last_at - first_at)))
