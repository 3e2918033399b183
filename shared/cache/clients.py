"""The client libraries of the tiers, tamed: imported by `shared.cache.transport` when a tier is configured.

Both are used below their command layer: RESP2, no timeouts of their own, and parsers that keep the error's
first word.
"""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

import redis.asyncio as redis_client
import redis.exceptions as redis_errors
import valkey.asyncio as valkey_client
import valkey.exceptions as valkey_errors
from redis._parsers.hiredis import _AsyncHiredisParser
from valkey._parsers.libvalkey import _AsyncLibvalkeyParser

from shared.cache.replies import RawErrorReply
from shared.cache.tier import Tier

#: Where to connect now; asked before every connect, because a failover moves the master.
Locate = Callable[[], Awaitable[tuple[str, int]]]


class _RawRedisError(RawErrorReply, redis_errors.ResponseError):
    """An error reply with its first word kept."""


class _RawValkeyError(RawErrorReply, valkey_errors.ResponseError):
    """An error reply with its first word kept."""


class _RedisParser(_AsyncHiredisParser):
    @classmethod
    def parse_error(cls, response: str) -> Exception:
        return _RawRedisError(response)


class _ValkeyParser(_AsyncLibvalkeyParser):
    @classmethod
    def parse_error(cls, response: str) -> Exception:
        return _RawValkeyError(response)


class _Placed:
    """A connection that asks where its server is, and shares one TLS context with its siblings."""

    host: str
    port: int

    def __init__(self, *, locate: Locate | None, tls: ssl.SSLContext | None, **arguments: Any) -> None:
        self._locate = locate
        self._tls = tls
        super().__init__(**arguments)

    async def _connect(self) -> None:
        if self._locate is not None:
            self.host, self.port = await self._locate()
        await super()._connect()  # type: ignore[misc]

    async def disconnect(self, *arguments: Any, **named: Any) -> None:
        # A TLS connection that is closed politely waits for a goodbye, which a frozen peer never says.
        writer: asyncio.StreamWriter | None = self._writer  # type: ignore[attr-defined]
        if writer is not None:
            writer.transport.abort()
        await super().disconnect(*arguments, **named)  # type: ignore[misc]

    def _connection_arguments(self) -> dict[str, Any]:
        arguments = dict(super()._connection_arguments())  # type: ignore[misc]
        return arguments if self._tls is None else arguments | {"ssl": self._tls}


class _RedisConnection(_Placed, redis_client.Connection):
    pass


class _ValkeyConnection(_Placed, valkey_client.Connection):
    pass


class _ReadyPool:
    """Hands out ready connections; the libraries' own checks cost a timer and read what they test.

    Nobody waits here: whoever asks has a turn already, and there are as many turns as connections.
    """

    async def acquire(self) -> Any:
        connection = self.get_available_connection()  # type: ignore[attr-defined]
        try:
            await self.ensure_connection(connection)
        except BaseException:
            await self.release(connection)
            raise
        return connection

    async def release(self, connection: Any) -> None:
        self._in_use_connections.remove(connection)  # type: ignore[attr-defined]
        self._available_connections.append(connection)  # type: ignore[attr-defined]

    async def ensure_connection(self, connection: Any) -> None:
        if connection.is_connected and _is_spoilt(connection):
            await connection.disconnect(nowait=True)
        await connection.connect()


class _RedisPool(_ReadyPool, redis_client.ConnectionPool):
    pass


class _ValkeyPool(_ReadyPool, valkey_client.ConnectionPool):
    pass


@dataclass(frozen=True, slots=True)
class Library:
    connection: type[Any]
    pool: type[Any]
    options: dict[str, Any]


LIBRARIES: dict[Tier, Library] = {
    Tier.KV: Library(
        _ValkeyConnection,
        _ValkeyPool,
        {"parser_class": _ValkeyParser, "lib_name": None, "lib_version": None},
    ),
    Tier.CACHE: Library(_RedisConnection, _RedisPool, {"parser_class": _RedisParser, "driver_info": None}),
}
#: What is raised when the peer does not speak the protocol.
GARBAGE = (redis_errors.InvalidResponse, valkey_errors.InvalidResponse)


def _is_spoilt(connection: Any) -> bool:
    """Whether an idle connection was closed by its peer, or holds bytes that nobody asked for."""
    stream = connection._reader  # noqa: SLF001 - the libraries offer no check that neither reads nor waits
    return bool(
        stream.at_eof()
        or stream.exception() is not None
        or stream._buffer  # noqa: SLF001
        or connection._parser._reader.has_data()  # noqa: SLF001
    )
