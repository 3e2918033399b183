"""What the parity rows run on: a memory back end with a clock turned by hand, and real servers."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from datetime import timedelta
from urllib.parse import urlsplit

import redis.asyncio as raw_client

from shared.runtime_state import MemoryLimits, RedisRuntimeClient, create_runtime_state_client
from shared.runtime_state.memory_backend import InMemoryRuntimeStateBackend

SECOND = 1_000_000_000
MILLISECOND = 1_000_000
DATABASE = 7
#: These suites compare answers; a stall of a busy machine is none.
PATIENCE = timedelta(seconds=20)
FORBIDDEN_DATABASES = {0, 15}
SERVER_VARIABLE = "RUNTIME_STATE_PARITY_REDIS_URL"
REQUIRED_VARIABLE = "RUNTIME_STATE_PARITY_REQUIRED"


class ParityServerUnfit(RuntimeError):
    """The parity suite was pointed at something that it must not or cannot use; never a reason to skip."""


class HandClock:
    """Monotonic nanoseconds that move when a test says so."""

    def __init__(self) -> None:
        # An odd start, so that no deadline falls on a whole second by accident.
        self.now = 123_456_789_012

    def __call__(self) -> int:
        return self.now

    def advance(self, *, milliseconds: int = 0, seconds: int = 0) -> None:
        self.now += milliseconds * MILLISECOND + seconds * SECOND


class Subject:
    """A client under test and the few observations that the contract itself does not offer."""

    def __init__(self, client: RedisRuntimeClient, prefix: str) -> None:
        self.client = client
        self.prefix = prefix

    async def leave(self, key: str, milliseconds: int) -> None:
        """Let an existing key live for so long and no longer."""
        raise NotImplementedError

    async def outlive(self, key: str) -> None:
        """Return when the key's own lifetime has ended."""
        raise NotImplementedError

    def neighbour(self) -> AbstractAsyncContextManager[Subject]:
        """Another prefix at the same URL."""
        raise NotImplementedError


class MemorySubject(Subject):
    def __init__(self, client: RedisRuntimeClient, prefix: str, clock: HandClock) -> None:
        super().__init__(client, prefix)
        self.clock = clock

    async def leave(self, key: str, milliseconds: int) -> None:
        assert await self.client.expire(key, 60)
        self.clock.advance(milliseconds=60_000 - milliseconds)

    async def outlive(self, key: str) -> None:
        self.clock.advance(seconds=max(0, await self.client.ttl(key)) + 1)

    def neighbour(self) -> AbstractAsyncContextManager[Subject]:
        return memory_subject()


class ServerSubject(Subject):
    def __init__(self, client: RedisRuntimeClient, prefix: str, url: str, raw: raw_client.Redis) -> None:
        super().__init__(client, prefix)
        self.url = url
        self.raw = raw

    async def leave(self, key: str, milliseconds: int) -> None:
        assert await self.raw.pexpire(self.prefix + key, milliseconds)

    async def outlive(self, key: str) -> None:
        async def gone() -> bool:
            return bool(await self.raw.pttl(self.prefix + key) == -2)

        await eventually(gone)

    def neighbour(self) -> AbstractAsyncContextManager[Subject]:
        return server_subject(self.url)


async def eventually(condition: Callable[[], Awaitable[bool]], *, within: float = 10.0) -> None:
    """Wait for a condition that something outside this process brings about."""
    async with asyncio.timeout(within):
        while not await condition():
            await asyncio.sleep(0.005)


def random_prefix() -> str:
    return f"parity-{secrets.token_hex(6)}:"


def server_names(environment: Mapping[str, str]) -> list[str]:
    """The servers to compare with: one that was named, else our own Valkey and Redis."""
    return ["given"] if environment.get(SERVER_VARIABLE) else ["valkey", "redis"]


def fit_url(url: str) -> str:
    """The URL of a server that may be used, or a loud refusal."""
    database = urlsplit(url).path.strip("/") or "0"
    if not database.isdecimal() or int(database) in FORBIDDEN_DATABASES:
        raise ParityServerUnfit("name a database other than 0 and 15, for example redis://127.0.0.1:6379/7")
    return url


@asynccontextmanager
async def memory_subject(limits: MemoryLimits | None = None) -> AsyncIterator[MemorySubject]:
    clock = HandClock()
    prefix = random_prefix()
    client = RedisRuntimeClient(InMemoryRuntimeStateBackend(limits, ticks=clock), prefix=prefix)
    yield MemorySubject(client, prefix, clock)
    await client.aclose()


@asynccontextmanager
async def server_subject(url: str, prefix: str | None = None) -> AsyncIterator[ServerSubject]:
    """A client under a random prefix; afterwards its own keys are gone and no others."""
    prefix = prefix or random_prefix()
    client = create_runtime_state_client(fit_url(url), prefix=prefix, deadline=PATIENCE)
    raw = raw_client.Redis.from_url(url, protocol=2)
    try:
        await raw.ping()
    except raw_client.RedisError:
        await raw.aclose()
        raise ParityServerUnfit("the parity server does not answer") from None
    try:
        yield ServerSubject(client, prefix, url, raw)
        async for key in raw.scan_iter(match=prefix + "*", count=1000):
            await raw.delete(key)
    finally:
        await client.aclose()
        await raw.aclose()
