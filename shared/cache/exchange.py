"""Exchanges: commands out, replies back, each by its deadline, over a bounded number of connections."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Sequence
from typing import Any

from shared.cache.errors import Reason
from shared.cache.tier import Tier
from shared.cache.transport import (
    Command,
    Endpoint,
    ExchangeFailed,
    Line,
    Reply,
    new_line,
    new_pool,
    reason_of,
    receive_from,
)
from shared.kernel.tasks import end


class _Attempt:
    __slots__ = ("sent",)

    def __init__(self) -> None:
        self.sent = False


class Transport:
    """Exchanges commands for replies, over at most `pool_size` connections, each by its deadline."""

    def __init__(self, tier: Tier, endpoint: Endpoint, pool_size: int) -> None:
        self._tier = tier
        self._endpoint = endpoint
        self._pool = new_pool(tier, endpoint, pool_size)
        # The libraries' pools that wait do so on a Condition, which in Python 3.11 loses a wake-up when the
        # woken waiter is cancelled in the same turn. A semaphore does not; behind it a pool is never asked
        # for more than it has.
        self._slots = asyncio.Semaphore(pool_size)
        self._draining: set[asyncio.Task[None]] = set()
        self.pool_size = pool_size
        self.in_use = 0

    @property
    def encrypted(self) -> bool:
        """Whether TLS is spoken."""
        return self._endpoint.tls is not None

    def line(self) -> Line:
        """A connection outside the pool, not yet opened."""
        return new_line(self._tier, self._endpoint)

    async def exchange(
        self, commands: Sequence[Command], at: float, given_up: Callable[[], bool] = lambda: False
    ) -> list[Reply]:
        """One reply for each command, in order; an error reply is a value. `at` is in the loop's time.

        `given_up` is asked once more when the turn has come, before anything is connected or sent.
        """
        attempt = _Attempt()
        try:
            async with asyncio.timeout_at(at):
                connection = await self._acquire(given_up)
                return await self._converse(connection, commands, at, attempt)
        except TimeoutError:
            raise ExchangeFailed(Reason.DEADLINE, sent=attempt.sent) from None
        except Exception as error:  # noqa: BLE001 - no error of a client gets out, whatever it is
            reason = reason_of(error, opening=not attempt.sent)
            raise ExchangeFailed(reason, sent=attempt.sent) from None

    async def drop_idle(self) -> None:
        """Close every connection that is not in use: the server behind them is no longer the right one."""
        await self._pool.disconnect(inuse_connections=False)

    async def aclose(self) -> None:
        """End what is still being read, and close every connection."""
        await end(*self._draining)
        await self._pool.disconnect()

    async def _converse(
        self, connection: Any, commands: Sequence[Command], at: float, attempt: _Attempt
    ) -> list[Reply]:
        replies: list[Reply] = []
        try:
            attempt.sent = True
            await connection.send_packed_command(connection.pack_commands(commands), check_health=False)
            while len(replies) < len(commands):
                replies.append(await receive_from(connection))
        except asyncio.CancelledError:
            self._hand_over(connection, len(commands) - len(replies), at)
            raise
        except BaseException:
            await self._discard(connection)
            raise
        await self._release(connection)
        return replies

    def _hand_over(self, connection: Any, owed: int, at: float) -> None:
        """Read what a caller that left is still owed, so that its connection is neither poisoned nor lost."""
        task = asyncio.create_task(self._drain(connection, owed, at), name="cache_drain")
        self._draining.add(task)
        task.add_done_callback(self._draining.discard)

    async def _drain(self, connection: Any, owed: int, at: float) -> None:
        try:
            async with asyncio.timeout_at(at):
                for _ in range(owed):
                    await receive_from(connection)
        except asyncio.CancelledError:
            await self._discard(connection)
            raise
        except Exception:  # noqa: BLE001 - nobody waits for it any more
            await self._discard(connection)
        else:
            await self._release(connection)

    async def _acquire(self, given_up: Callable[[], bool]) -> Any:
        await self._slots.acquire()
        if given_up():
            self._slots.release()
            raise ExchangeFailed(Reason.BREAKER_OPEN, sent=False)
        try:
            connection = await self._pool.acquire()
        except BaseException:
            self._slots.release()
            raise
        self.in_use += 1
        return connection

    async def _discard(self, connection: Any) -> None:
        with contextlib.suppress(Exception):
            await connection.disconnect(nowait=True)
        await self._release(connection)

    async def _release(self, connection: Any) -> None:
        try:
            await self._pool.release(connection)
        finally:
            self.in_use -= 1
            self._slots.release()
