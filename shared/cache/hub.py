"""The pub/sub hub: one subscriber connection a process, fanned out to everybody who listens.

No client notices by itself that a server is frozen, and a reconnect loses what was published meanwhile. The
hub sends a heartbeat and expects an answer, and tells every subscriber when to read its snapshot again.
"""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import timedelta

import structlog

from shared.cache.breaker import BreakerState
from shared.cache.codec import State, decode
from shared.cache.errors import Reason
from shared.cache.exchange import Transport
from shared.cache.gateway import Gateway, Operation
from shared.cache.keys import Key
from shared.cache.replies import ErrorReply
from shared.cache.subscriptions import Interrupted, Message, Subscription
from shared.cache.transport import ExchangeFailed, Line, Reply
from shared.kernel.tasks import end

log = structlog.get_logger("shared.cache")


@dataclass(frozen=True, slots=True)
class HubPolicy:
    """How soon silence is noticed, and how a lost connection is made again."""

    heartbeat: timedelta = timedelta(seconds=5)
    #: The server answers a heartbeat by then, or the connection counts as dead.
    reply_within: timedelta = timedelta(seconds=1)
    connect_within: timedelta = timedelta(seconds=2)
    first_pause: timedelta = timedelta(milliseconds=50)
    longest_pause: timedelta = timedelta(seconds=2)


@dataclass(slots=True)
class _Channel:
    key: Key
    subscriptions: set[Subscription] = field(default_factory=set)
    #: Set while the server has acknowledged the channel on the present connection.
    acknowledged: asyncio.Event = field(default_factory=asyncio.Event)


class Hub:
    """Owns the connection, and the task that keeps it up for as long as anybody subscribes."""

    def __init__(
        self, gateway: Gateway, transport: Transport, name_of: Callable[[Key], bytes], policy: HubPolicy
    ) -> None:
        self._gateway = gateway
        self._transport = transport
        self._name_of = name_of
        self._policy = policy
        self._channels: dict[bytes, _Channel] = {}
        self._line: Line | None = None
        self._supervisor: asyncio.Task[None] | None = None
        self._wanted = asyncio.Event()
        self._heard_at = 0.0
        #: SUBSCRIBEs that the server has not acknowledged yet, by channel.
        self._owed: Counter[bytes] = Counter()
        self.epoch = 0

    @property
    def connected(self) -> bool:
        """Whether the subscriber connection is up."""
        return self._line is not None

    async def open(self, key: Key, limit: int) -> Subscription:
        """Subscribe, and return when the server has acknowledged it."""
        operation = Operation("subscribe", key.family.name)
        if not self.connected and self._gateway.breaker.state is BreakerState.OPEN:
            raise self._gateway.unavailable(operation, Reason.BREAKER_OPEN)
        subscription = Subscription(key, limit)
        name = self._name_of(key)
        channel = self._channels.setdefault(name, _Channel(key))
        fresh = not channel.subscriptions
        channel.subscriptions.add(subscription)
        try:
            async with asyncio.timeout(self._gateway.deadline.total_seconds()):
                await self._ask_for(name, fresh=fresh)
                await channel.acknowledged.wait()
        except (TimeoutError, ExchangeFailed) as error:
            await self.close(subscription)
            reason = error.reason if isinstance(error, ExchangeFailed) else Reason.DEADLINE
            raise self._gateway.unavailable(operation, reason) from None
        except BaseException:
            await self.close(subscription)
            raise
        subscription.epoch = self.epoch
        return subscription

    async def close(self, subscription: Subscription) -> None:
        """Stop listening; the last to leave a channel takes the channel along."""
        subscription.end()
        name = self._name_of(subscription.key)
        channel = self._channels.get(name)
        if channel is None:
            return
        channel.subscriptions.discard(subscription)
        if not channel.subscriptions:
            del self._channels[name]
            if self._line is not None:
                # A connection that refuses is noticed, and made again, by its reader.
                await _quietly_send(self._line, b"UNSUBSCRIBE", name)

    async def aclose(self) -> None:
        """End every subscription and the connection."""
        for channel in self._channels.values():
            for subscription in channel.subscriptions:
                subscription.end()
        self._channels.clear()
        if self._supervisor is not None:
            await end(self._supervisor)
            self._supervisor = None

    async def _ask_for(self, name: bytes, *, fresh: bool) -> None:
        if self._supervisor is None:
            self._supervisor = asyncio.create_task(self._keep_up(), name="cache_hub")
        self._wanted.set()
        if self._line is not None and fresh:
            await self._subscribe(self._line, name)

    async def _keep_up(self) -> None:
        pause = self._policy.first_pause
        while True:
            epoch = self.epoch
            try:
                await self._serve()
            except* (ExchangeFailed, TimeoutError) as lost:
                log.info("tier_subscriber_lost", tier=self._gateway.tier, errors=len(lost.exceptions))
            except* Exception:
                log.exception("tier_subscriber_failed", tier=self._gateway.tier)
            self._interrupt()
            pause = (
                self._policy.first_pause if self.epoch > epoch else min(pause * 2, self._policy.longest_pause)
            )
            await asyncio.sleep(pause.total_seconds() * random.uniform(0.5, 1))  # noqa: S311 - not a secret

    async def _serve(self) -> None:
        """One connection, from opening it to losing it."""
        await self._wanted.wait()
        line = self._transport.line()
        try:
            async with asyncio.timeout(self._policy.connect_within.total_seconds()):
                await line.open()
            self.epoch += 1
            self._line = line
            self._heard_at = asyncio.get_running_loop().time()
            self._owed.clear()
            if self._channels:
                await self._subscribe(line, *self._channels)
            self._gateway.observer.subscriber_reconnected(self._gateway.tier)
            async with asyncio.TaskGroup() as group:
                group.create_task(self._read(line))
                group.create_task(self._beat(line))
        finally:
            self._line = None
            await line.close()

    async def _subscribe(self, line: Line, *names: bytes) -> None:
        self._owed.update(names)
        await line.send(b"SUBSCRIBE", *names)

    async def _read(self, line: Line) -> None:
        clock = asyncio.get_running_loop().time
        while True:
            reply = await line.receive()
            self._heard_at = clock()
            self._dispatch(reply)

    async def _beat(self, line: Line) -> None:
        """Ask for a sign of life after each silence; raise when none comes."""
        clock = asyncio.get_running_loop().time
        interval, reply_within = (
            self._policy.heartbeat.total_seconds(),
            self._policy.reply_within.total_seconds(),
        )
        while True:
            silence = clock() - self._heard_at
            if silence < interval:
                await asyncio.sleep(interval - silence)
                continue
            asked_at = clock()
            async with asyncio.timeout(reply_within):
                await line.send(b"PING")
            await asyncio.sleep(reply_within)
            if self._heard_at < asked_at:
                raise TimeoutError

    def _dispatch(self, reply: Reply) -> None:
        if isinstance(reply, ErrorReply):
            raise ExchangeFailed(reply.reason, sent=True)
        match reply:
            case [b"message", name, payload]:
                self._deliver(name, payload)
            case [b"subscribe", name, _count]:
                self._acknowledge(name)
            case b"PONG" | [b"unsubscribe" | b"pong", *_]:
                pass
            case _:
                raise ExchangeFailed(Reason.PROTOCOL, sent=True)

    def _deliver(self, name: bytes, payload: bytes) -> None:
        channel = self._channels.get(name)
        if channel is None:
            return
        family = channel.key.family
        decoded = decode(family, payload)
        if decoded.state is not State.HIT:
            self._gateway.observer.counted(self._gateway.tier, family.name, "message", decoded.state)
            return
        message = Message(decoded.value, decoded.sequence)
        for subscription in channel.subscriptions:
            if not subscription.offer(message):
                self._gateway.observer.subscriber_overflowed(self._gateway.tier, family.name)

    def _acknowledge(self, name: bytes) -> None:
        channel = self._channels.get(name)
        self._owed[name] -= 1
        if channel is None or self._owed[name] > 0:
            # An acknowledgement of a subscription that was given up meanwhile says nothing about a later one.
            return
        channel.acknowledged.set()
        for subscription in channel.subscriptions:
            if subscription.epoch not in {0, self.epoch}:
                subscription.resynchronise(self.epoch)

    def _interrupt(self) -> None:
        for channel in self._channels.values():
            if channel.acknowledged.is_set():
                channel.acknowledged.clear()
                for subscription in channel.subscriptions:
                    subscription.offer(Interrupted())
        if not self._channels:
            self._wanted.clear()


async def _quietly_send(line: Line, *command: bytes) -> None:
    try:
        await line.send(*command)
    except ExchangeFailed:
        return
