"""A tier under test: kv by the valkey client on Valkey, cache by the redis client on Redis."""

import asyncio
import secrets
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from shared.cache import Cache, CacheObserver, KeyFamily, Kind, Tier, TierSettings, Unobserved, open_cache
from shared.cache.breaker import BreakerState
from shared.cache.errors import Reason
from shared.cache.transport import Line

DATABASE = 1
# Ten times the goal: the machine that runs the tests is busy with other things.
PATIENCE = timedelta(seconds=2.5)


@dataclass
class Recorder(Unobserved):
    """Remembers what was counted."""

    results: list[tuple[str, str, str]] = field(default_factory=list)
    reasons: list[Reason] = field(default_factory=list)
    breaker: list[BreakerState] = field(default_factory=list)
    connections: int = 0
    overflows: int = 0

    def counted(self, tier: Tier, family: str, operation: str, result: str) -> None:
        self.results.append((family, operation, result))

    def failed(self, tier: Tier, reason: Reason) -> None:
        self.reasons.append(reason)

    def breaker_changed(self, tier: Tier, state: BreakerState) -> None:
        self.breaker.append(state)

    def subscriber_reconnected(self, tier: Tier) -> None:
        self.connections += 1

    def subscriber_overflowed(self, tier: Tier, family: str) -> None:
        self.overflows += 1


@dataclass(frozen=True)
class Families:
    """One family of each kind on a tier."""

    tier: Tier

    def family(self, name: str, kind: Kind = Kind.JSON, **changes: Any) -> KeyFamily:
        timeless = kind in {Kind.CHANNEL, Kind.VERSION}
        declared: dict[str, Any] = {
            "ttl": None if timeless else timedelta(minutes=1),
            "writer": "tests",
            "purpose": "tests",
            "loss": "nothing",
        }
        return KeyFamily(
            name=name,
            pattern=f"{name}:<id>",
            tier=self.tier,
            database=DATABASE,
            kind=kind,
            **(declared | changes),
        )

    @property
    def values(self) -> KeyFamily:
        return self.family("value", negative_ttl=timedelta(seconds=5))

    @property
    def used(self) -> KeyFamily:
        return self.family("used")

    @property
    def texts(self) -> KeyFamily:
        return self.family("text", Kind.TEXT, negative_ttl=timedelta(seconds=5))

    @property
    def counters(self) -> KeyFamily:
        return self.family("counter", Kind.COUNTER)

    @property
    def versions(self) -> KeyFamily:
        return self.family("version", Kind.VERSION)

    @property
    def windows(self) -> KeyFamily:
        return self.family("window", Kind.LIST, cap=3)

    @property
    def channels(self) -> KeyFamily:
        return self.family("channel", Kind.CHANNEL)

    def logs(self, cap: int = 10) -> KeyFamily:
        return self.family("log", Kind.LOG, cap=cap)


@dataclass
class Subject:
    """An open tier, what it counts, and a second way to its server."""

    cache: Cache
    families: Families
    recorder: Recorder
    server: Line
    settings: TierSettings

    async def ask(self, *command: str | bytes | int) -> Any:
        """Send a raw command past the class under test."""
        await self.server.send(*command)
        return await self.server.receive()

    def raw(self, name: str) -> str:
        return f"{self.settings.namespace}:{name}"


def settings_for(url: str, **changes: Any) -> TierSettings:
    defaults: dict[str, Any] = {"namespace": f"t{secrets.token_hex(4)}", "deadline": PATIENCE}
    return TierSettings(url=url, **(defaults | changes))


def open_tier(settings: TierSettings, tier: Tier, observer: CacheObserver | None = None) -> Cache:
    return open_cache(settings, tier, "tests", DATABASE, observer)


@asynccontextmanager
async def opened(url: str, tier: Tier, **changes: Any) -> AsyncIterator[Subject]:
    """A tier for one test, in a namespace of its own; afterwards no task of it is left."""
    before = asyncio.all_tasks()
    settings = settings_for(url, **changes)
    recorder = Recorder()
    cache = open_tier(settings, tier, recorder)
    transport = cache.gateway.transport
    assert transport is not None
    server = transport.line()
    try:
        yield Subject(cache, Families(tier), recorder, server, settings)
    finally:
        await server.close()
        await cache.aclose()
    left = [task for task in asyncio.all_tasks() - before if task.get_name().startswith("cache_")]
    assert not left


async def eventually(condition: Callable[[], Awaitable[Any] | Any], within: float = 10.0) -> None:
    """Wait until the condition holds; fail when it does not in time."""
    async with asyncio.timeout(within):
        while True:
            answer = condition()
            if await answer if isinstance(answer, Awaitable) else answer:
                return
            await asyncio.sleep(0.01)
