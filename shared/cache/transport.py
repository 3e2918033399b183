"""What the tiers see of the client libraries: bounded, without retries, bytes on the wire.

The valkey client serves kv and the redis client serves cache. Both are used below their command layer: an
explicit blocking pool, and no timeouts of their own, because the deadline of a call covers waiting for a
connection, connecting, sending and reading.
"""

from __future__ import annotations

import contextlib
import ssl
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from shared.cache.diagnosis import sentence_of
from shared.cache.errors import Reason
from shared.cache.replies import ErrorReply, RawErrorReply, reason_on_opening
from shared.cache.tier import Tier

if TYPE_CHECKING:
    from shared.cache.clients import Library, Locate

Command = tuple[bytes | str | int, ...]
Reply = Any


class ExchangeFailed(Exception):
    """Nothing was answered. `sent` says whether the server may have carried the commands out."""

    def __init__(self, reason: Reason, *, sent: bool, met: str = "") -> None:
        super().__init__(reason)
        self.reason = reason
        self.sent = sent
        #: A sentence for people; empty where the reason says as much.
        self.met = met


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


class Line:
    """One connection of its own, outside the pool: for a subscriber, and for the prober."""

    def __init__(self, connection: Any) -> None:
        self._connection = connection

    async def open(self) -> None:
        """Connect, authenticate and select; raises ExchangeFailed."""
        try:
            await self._connection.connect()
        except Exception as error:  # noqa: BLE001 - no error of a client gets out
            raise ExchangeFailed(reason_of(error, opening=True), sent=False, met=sentence_of(error)) from None

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
            raise ExchangeFailed(reason_of(error), sent=True, met=sentence_of(error)) from None

    async def close(self) -> None:
        """Close without waiting for the peer."""
        with contextlib.suppress(Exception):
            await self._connection.disconnect(nowait=True)


def new_pool(tier: Tier, endpoint: Endpoint, size: int) -> Any:
    """A pool of the tier's own client, of a fixed size and with nothing in it yet."""
    library = _library(tier)
    return library.pool(
        connection_class=library.connection,
        max_connections=size,
        **_connection_options(tier, endpoint),
    )


def new_line(tier: Tier, endpoint: Endpoint) -> Line:
    """A connection to an endpoint, by the tier's own client, not yet opened."""
    return Line(_library(tier).connection(**_connection_options(tier, endpoint)))


def _library(tier: Tier) -> Library:
    # Who has no tier needs no client, and both together take longer to import than the rest of the package.
    from shared.cache.clients import LIBRARIES  # noqa: PLC0415

    return LIBRARIES[tier]


def _connection_options(tier: Tier, endpoint: Endpoint) -> dict[str, Any]:
    return _library(tier).options | {
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
    except RawErrorReply as error:
        return ErrorReply(str(error))


def reason_of(error: Exception, *, opening: bool = False) -> Reason:
    if isinstance(error, ExchangeFailed):
        return error.reason
    if isinstance(error, RawErrorReply):
        reply = ErrorReply(str(error))
        return reason_on_opening(reply) if opening else reply.reason
    from shared.cache.clients import GARBAGE  # noqa: PLC0415 - loaded already, or nothing could have failed

    # Whatever else it is (a socket's error, the event loop's, the library's own), there is no answer.
    return Reason.PROTOCOL if isinstance(error, GARBAGE) else Reason.CONNECTION
