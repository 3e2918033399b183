"""`redis://` and `rediss://`: Valkey or Redis, shared by every process that names it.

The only module here that knows a client. Every call has one deadline for all of it: waiting for a connection,
connecting, asking and reading. Nothing is sent twice.
"""

from __future__ import annotations

import asyncio
import hashlib
import re
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from redis.asyncio import BlockingConnectionPool, Redis
from redis.asyncio.connection import Connection, SSLConnection
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import RedisError, ResponseError

from shared.runtime_state.contracts import (
    Holdings,
    RuntimeStateCapacityExceeded,
    RuntimeStateTypeError,
    RuntimeStateUnavailable,
    RuntimeStateUsageError,
    RuntimeStateValueError,
    SweepReport,
)
from shared.runtime_state.locations import DEADLINE
from shared.runtime_state.operations import Delete, Expire, Operation, SetFields, SetValue

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterable, Mapping, Sequence

    from shared.runtime_state.locations import ServerLocation

CONNECTIONS = 32

#: Counting walks the key space; past so many steps of so many keys the count is not worth the server's time.
_SCAN_STEP = 1000
_SCAN_STEPS = 100

_APPLY_BATCH = (Path(__file__).parent / "scripts" / "apply_batch.lua").read_bytes()
_APPLY_BATCH_DIGEST = hashlib.sha1(_APPLY_BATCH).hexdigest()  # noqa: S324 - the servers' name for it, not a secret


class RedisRuntimeStateBackend:
    """The commands over one bounded pool of RESP2 connections."""

    name = "redis"
    ephemeral = False

    def __init__(
        self, location: ServerLocation, *, deadline: timedelta = DEADLINE, connections: int = CONNECTIONS
    ) -> None:
        """Connect to nothing yet."""
        self._deadline = deadline.total_seconds()
        self._pool = _pool(location, connections)
        # The pool alone is not fair: whoever gives a connection back takes it again before those who wait,
        # and under load they wait past their deadline. A semaphore serves in the order of arrival.
        self._turn = asyncio.Semaphore(connections)
        self._client: Any = Redis.from_pool(self._pool)
        self._rejections = 0

    async def ping(self) -> bool:
        return bool(await self._call("PING"))

    async def set(self, key: bytes, value: bytes, *, ex: int | None = None, nx: bool = False) -> bool:
        lifetime = () if ex is None else ("EX", ex)
        condition = ("NX",) if nx else ()
        return bool(await self._call("SET", key, value, *lifetime, *condition))

    async def get(self, key: bytes) -> bytes | None:
        return cast("bytes | None", await self._call("GET", key))

    async def incr(self, key: bytes) -> int:
        return int(await self._call("INCR", key))

    async def delete(self, *keys: bytes) -> int:
        return int(await self._call("DEL", *keys))

    async def expire(self, key: bytes, seconds: int) -> bool:
        return bool(await self._call("EXPIRE", key, seconds))

    async def ttl(self, key: bytes) -> int:
        return int(await self._call("TTL", key))

    async def hset(self, key: bytes, mapping: Mapping[bytes, bytes]) -> int:
        return int(await self._call("HSET", key, *_pairs(mapping)))

    async def hget(self, key: bytes, field: bytes) -> bytes | None:
        return cast("bytes | None", await self._call("HGET", key, field))

    async def hmget(self, key: bytes, fields: Sequence[bytes]) -> list[bytes | None]:
        return cast("list[bytes | None]", await self._call("HMGET", key, *fields))

    async def hgetall(self, key: bytes) -> dict[bytes, bytes]:
        return cast("dict[bytes, bytes]", await self._call("HGETALL", key))

    async def apply(self, operations: Iterable[Operation]) -> list[bool | int]:
        """One script: all of it, or nothing."""
        batch = list(operations)
        keys: list[bytes] = []
        arguments: list[bytes | str | int] = []
        for operation in batch:
            _append(operation, keys, arguments)
        rest = (len(keys), *keys, *arguments)
        async with self._answered_in_time():
            try:
                answers = await self._client.execute_command("EVALSHA", _APPLY_BATCH_DIGEST, *rest)
            except ResponseError as refused:
                if _code(refused) != "NOSCRIPT":
                    raise
                answers = await self._client.execute_command("EVAL", _APPLY_BATCH, *rest)
        return [_answer(operation, number) for operation, number in zip(batch, answers, strict=True)]

    async def sweep_expired(self) -> SweepReport:
        """The server removes what has expired by itself."""
        return SweepReport()

    async def holdings(self, prefix: bytes) -> Holdings:
        """Count the keys if that is cheap; bytes and limits are the server's own, shared with others."""
        try:
            active = await self._count(prefix)
        except RuntimeStateUnavailable:
            active = None
        return Holdings(active, None, None, self._rejections)

    async def aclose(self) -> None:
        await self._client.aclose()

    async def _count(self, prefix: bytes) -> int | None:
        pattern = re.sub(rb"([\\*?\[\]])", rb"\\\1", prefix) + b"*"
        cursor, found = 0, 0
        for _ in range(_SCAN_STEPS):
            cursor, keys = await self._call("SCAN", cursor, "MATCH", pattern, "COUNT", _SCAN_STEP)
            found += len(keys)
            if cursor == 0:
                return found
        return None

    async def _call(self, *command: bytes | str | int) -> Any:
        async with self._answered_in_time():
            return await self._client.execute_command(*command)

    @asynccontextmanager
    async def _answered_in_time(self) -> AsyncIterator[None]:
        """Bound everything inside by one deadline, and let no error of the client out."""
        try:
            async with asyncio.timeout(self._deadline), self._turn:
                yield
        except ResponseError as reply:
            raise await self._refusal(reply) from reply
        except (RedisError, OSError) as error:
            raise RuntimeStateUnavailable from error

    async def _refusal(self, reply: ResponseError) -> Exception:
        """Our error for a server's refusal, judged by the code that the reply begins with."""
        code = _code(reply)
        if code == "OOM":
            self._rejections += 1
            return RuntimeStateCapacityExceeded()
        if code == "READONLY":
            # A replica since the last failover. New connections may find the new primary under the same name.
            await self._pool.disconnect(inuse_connections=False)
        return _usage_error(code, str(reply)) or RuntimeStateUnavailable()


def _pool(location: ServerLocation, connections: int) -> BlockingConnectionPool:
    """Everything explicit: by default this client retries ten times, so repeats an `INCR` that timed out."""
    security: dict[str, Any] = {}
    if location.encrypted:
        security = {"ssl_ca_certs": location.authorities, "ssl_check_hostname": True}
    return BlockingConnectionPool(
        max_connections=connections,
        timeout=None,  # the deadline of the call covers the wait
        connection_class=SSLConnection if location.encrypted else Connection,
        host=location.host,
        port=location.port,
        db=location.database,
        username=location.username,
        password=location.password,
        protocol=2,
        retry=Retry(NoBackoff(), 0),
        socket_timeout=None,
        socket_connect_timeout=None,
        socket_keepalive=True,
        health_check_interval=0,
        client_name="routeloom:runtime-state",
        driver_info=None,
        **security,
    )


def _code(reply: ResponseError) -> str:
    # The client cuts the code off the text of those that it knows, and keeps it beside.
    return reply.status_code or str(reply).partition(" ")[0]


def _usage_error(code: str, text: str) -> RuntimeStateUsageError | None:
    if code == "WRONGTYPE":
        return RuntimeStateTypeError("the key holds a value of another type")
    # Only `incr` is refused for a value, and under this code like every nameless error.
    if code == "ERR" and ("not an integer" in text or "overflow" in text):
        return RuntimeStateValueError("not a 64-bit integer that can be counted up")
    return None


def _pairs(fields: Mapping[bytes, bytes]) -> list[bytes]:
    return [part for pair in fields.items() for part in pair]


def _append(operation: Operation, keys: list[bytes], arguments: list[bytes | str | int]) -> None:
    match operation:
        case SetValue(key, value, seconds, only_if_absent):
            keys.append(key)
            arguments += ["set", value, "" if seconds is None else seconds, int(only_if_absent)]
        case SetFields(key, fields):
            keys.append(key)
            arguments += ["hset", 2 * len(fields), *_pairs(fields)]
        case Expire(key, seconds):
            keys.append(key)
            arguments += ["expire", seconds]
        case Delete(removed):
            keys += removed
            arguments += ["delete", len(removed)]


def _answer(operation: Operation, number: int) -> bool | int:
    return bool(number) if isinstance(operation, SetValue | Expire) else number
