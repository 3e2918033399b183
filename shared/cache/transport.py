"""The only module of the tiers that knows a client library: bounded, without retries, bytes on the wire.

The valkey client serves kv and the redis client serves cache. Both are used below their command layer: an
explicit blocking pool, RESP2, no timeouts of their own (the deadline of a call covers waiting for a
connection, connecting, sending and reading), and parsers that keep the error's first word.
"""

from __future__ import annotations

import asyncio
import contextlib
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

from shared.cache.errors import Reason
from shared.cache.replies import ErrorReply, reason_on_opening
from shared.cache.tier import Tier

Command = tuple[bytes | str | int, ...]
Reply = Any
#: Where to connect now; asked before every connect, because a failover moves the master.
Locate = Callable[[], Awaitable[tuple[str, int]]]


class ExchangeFailed(Exception):
    """Nothing was answered. `sent` says whether the server may have carried the commands out."""

    def __init__(self, reason: Reason, *, sent: bool) -> None:
        super().__init__(reason)
        self.reason = reason
        self.sent = sent


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Everything a connection needs to know; `locate`, if given, overrides host and port."""

    host: str
    port: int
    database: int
    client_name: str
    username: str | None = None
    password: str | None = None
    tls: ssl.SSLContext | None = None
    locate: Locate | None = None


class _RawRedisError(redis_errors.ResponseError):
    """An error reply with its first word kept."""


class _RawValkeyError(valkey_errors.ResponseError):
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
    """Hands out ready connections; the libraries' own checks cost a timer and read what they test."""

    async def ensure_connection(self, connection: Any) -> None:
        if connection.is_connected and _is_spoilt(connection):
            await connection.disconnect(nowait=True)
        await connection.connect()


class _RedisPool(_ReadyPool, redis_client.BlockingConnectionPool):
    async def acquire(self) -> Any:
        return await self.get_connection()  # type: ignore[no-untyped-call]


class _ValkeyPool(_ReadyPool, valkey_client.BlockingConnectionPool):
    async def acquire(self) -> Any:
        return await self.get_connection("")  # type: ignore[no-untyped-call]


@dataclass(frozen=True, slots=True)
class _Library:
    connection: type[Any]
    pool: type[Any]
    options: dict[str, Any]


_LIBRARIES: dict[Tier, _Library] = {
    Tier.KV: _Library(
        _ValkeyConnection,
        _ValkeyPool,
        {"parser_class": _ValkeyParser, "lib_name": None, "lib_version": None},
    ),
    Tier.CACHE: _Library(_RedisConnection, _RedisPool, {"parser_class": _RedisParser, "driver_info": None}),
}
_RAW_ERRORS = (_RawRedisError, _RawValkeyError)
_GARBAGE = (redis_errors.InvalidResponse, valkey_errors.InvalidResponse)


class Line:
    """One connection of its own, outside the pool: for a subscriber, and for the prober."""

    def __init__(self, connection: Any) -> None:
        self._connection = connection

    async def open(self) -> None:
        """Connect, authenticate and select; raises ExchangeFailed."""
        try:
            await self._connection.connect()
        except Exception as error:  # noqa: BLE001 - no error of a client gets out
            raise ExchangeFailed(reason_of(error, opening=True), sent=False) from None

    async def send(self, *command: bytes | str | int) -> None:
        """Write one command; raises ExchangeFailed."""
        try:
            await self._connection.send_packed_command(
                self._connection.pack_command(*command), check_health=False
            )
        except Exception as error:  # noqa: BLE001 - no error of a client gets out
            raise ExchangeFailed(reason_of(error), sent=True) from None

    async def receive(self) -> Reply:
        """Wait for the next reply for as long as it takes; raises ExchangeFailed."""
        try:
            return await receive_from(self._connection)
        except Exception as error:  # noqa: BLE001 - no error of a client gets out
            raise ExchangeFailed(reason_of(error), sent=True) from None

    async def close(self) -> None:
        """Close without waiting for the peer."""
        with contextlib.suppress(Exception):
            await self._connection.disconnect(nowait=True)


def new_pool(tier: Tier, endpoint: Endpoint, size: int) -> Any:
    """A pool of the tier's own client, of a fixed size and with nothing in it yet."""
    library = _LIBRARIES[tier]
    return library.pool(
        connection_class=library.connection,
        max_connections=size,
        timeout=None,
        **_connection_options(tier, endpoint),
    )


def new_line(tier: Tier, endpoint: Endpoint) -> Line:
    """A connection to an endpoint, by the tier's own client, not yet opened."""
    return Line(_LIBRARIES[tier].connection(**_connection_options(tier, endpoint)))


def _connection_options(tier: Tier, endpoint: Endpoint) -> dict[str, Any]:
    return _LIBRARIES[tier].options | {
        "host": endpoint.host,
        "port": endpoint.port,
        "db": endpoint.database,
        "username": endpoint.username,
        "password": endpoint.password,
        "client_name": endpoint.client_name,
        "locate": endpoint.locate,
        "tls": endpoint.tls,
        "protocol": 2,
        "socket_timeout": None,
        "socket_connect_timeout": None,
        "socket_keepalive": True,
        "health_check_interval": 0,
        "decode_responses": False,
    }


async def receive_from(connection: Any) -> Reply:
    try:
        return await connection.read_response(disconnect_on_error=False)
    except _RAW_ERRORS as error:
        return ErrorReply(str(error))


def _is_spoilt(connection: Any) -> bool:
    """Whether an idle connection was closed by its peer, or holds bytes that nobody asked for."""
    stream = connection._reader  # noqa: SLF001 - the libraries offer no check that neither reads nor waits
    return bool(
        stream.at_eof()
        or stream.exception() is not None
        or stream._buffer  # noqa: SLF001
        or connection._parser._reader.has_data()  # noqa: SLF001
    )


def reason_of(error: Exception, *, opening: bool = False) -> Reason:
    if isinstance(error, ExchangeFailed):
        return error.reason
    if isinstance(error, _RAW_ERRORS):
        reply = ErrorReply(str(error))
        return reason_on_opening(reply) if opening else reply.reason
    # Whatever else it is (a socket's error, the event loop's, the library's own), there is no answer.
    return Reason.PROTOCOL if isinstance(error, _GARBAGE) else Reason.CONNECTION
