"""Building a client for the application: the only module of this package that knows one.

The stores never do this: they are given whatever client the application owns and closes.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import urlsplit

from redis.asyncio import BlockingConnectionPool, Redis
from redis.asyncio.cluster import RedisCluster
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import RedisError

from shared.durable.errors import PrefixRefusedError
from shared.durable.keys import DurableKeys, check_shared_slot
from shared.durable.redis_replies import as_text, run_script

if TYPE_CHECKING:
    from shared.durable.config import RedisConfig
    from shared.durable.protocols import AsyncRedisClient

_SCHEMES = {"redis": "redis", "valkey": "redis", "rediss": "rediss", "valkeys": "rediss"}


@dataclass(frozen=True, slots=True)
class ConnectionLimits:
    """Deadlines in seconds and the most connections of one process."""

    connect_timeout: float = 1.0
    command_timeout: float = 2.0
    connections: int = 16


def _redis_url(url: str) -> str:
    scheme, rest = url.split("://", 1) if "://" in url else ("", url)
    if scheme not in _SCHEMES or not urlsplit(url).hostname:
        raise ValueError("a durable store is at redis://, rediss://, valkey:// or valkeys:// host")
    return f"{_SCHEMES[scheme]}://{rest}"


def _options(limits: ConnectionLimits, command_timeout: float | None) -> dict[str, Any]:
    return {
        "socket_connect_timeout": limits.connect_timeout,
        "socket_timeout": command_timeout,
        # A command that was sent and not answered is never repeated: its outcome is unknown.
        "retry": Retry(NoBackoff(), 0),
        "protocol": 2,
        "client_name": "routeloom:durable",
    }


def _pooled(url: str, limits: ConnectionLimits, command_timeout: float | None) -> Redis:
    options = _options(limits, command_timeout)
    wait = limits.connect_timeout
    pool = BlockingConnectionPool.from_url(
        _redis_url(url), max_connections=limits.connections, timeout=wait, **options
    )
    return Redis.from_pool(pool)


def open_client(url: str, limits: ConnectionLimits | None = None) -> AsyncRedisClient:
    """Build a client for one server; nothing is connected until the first use. The caller closes it."""
    limits = limits or ConnectionLimits()
    return cast("AsyncRedisClient", _pooled(url, limits, limits.command_timeout))


class _BoundedCluster(RedisCluster):
    """A cluster client that is steady under concurrent callers.

    The library's fails where no connection is free, and a moved slot or a first use by many callers at
    once makes it close connections that others are reading from.
    """

    def __init__(self, *, places: int = 16, **options: Any) -> None:
        super().__init__(reinitialize_steps=0, **options)
        self._places = asyncio.Semaphore(places)
        self._first_use = asyncio.Lock()
        self._used = False

    async def execute_command(self, *arguments: Any, **options: Any) -> Any:
        if not self._used:
            async with self._first_use:
                await self.initialize()
                self._used = True
        async with self._places:
            return await super().execute_command(*arguments, **options)


def open_cluster_client(url: str, limits: ConnectionLimits | None = None) -> AsyncRedisClient:
    """Build a client for a cluster from the URL of any of its nodes. The caller closes it."""
    limits = limits or ConnectionLimits()
    options = _options(limits, limits.command_timeout)
    cluster = _BoundedCluster.from_url(_redis_url(url), places=limits.connections, **options)
    return cast("AsyncRedisClient", cluster)


async def check_slots(client: AsyncRedisClient, config: RedisConfig) -> None:
    """Refuse, at start-up, a prefix whose keys a cluster would scatter. Raises PrefixRefusedError."""
    try:
        check_shared_slot(config.prefix)
    except PrefixRefusedError:
        reply = await run_script(client, "cluster_enabled", [DurableKeys(config.prefix).run_index])
        if as_text(reply.value()) == "1":
            raise


class RedisDoorbell:
    """Blocks on a list of one server that the scripts ring, over a connection of its own.

    A blocking call has a deadline of its own and is not repeated; a server that is away makes the
    waiting worker sleep, so it polls at its usual pace and meets the error there.
    """

    def __init__(self, url: str, config: RedisConfig, *, waiters: int = 16) -> None:
        """Allow so many workers of this process to wait at once."""
        self.key = DurableKeys(config.prefix).queue_doorbell
        self._client = _pooled(url, ConnectionLimits(connections=waiters), None)

    def ring(self) -> None:
        """The server rings, in the script that enqueues."""

    async def wait(self, seconds: float) -> None:
        """Return at a ring, or after so many seconds."""
        clock = asyncio.get_running_loop().time
        end = clock() + seconds
        try:
            async with asyncio.timeout_at(end + 0.2):
                await cast("Any", self._client.blpop([self.key], timeout=max(seconds, 0.01)))
        except (RedisError, OSError, TimeoutError):
            await asyncio.sleep(max(0.0, end - clock()))

    async def aclose(self) -> None:
        """Close the connections."""
        await self._client.aclose()
