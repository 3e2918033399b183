"""Every call to a tier passes here: breaker, deadline, classification, counting."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from functools import partial

import structlog

from shared.cache.breaker import Breaker, BreakerState, Ticket
from shared.cache.errors import OutcomeUnknown, Reason, TierUnavailable
from shared.cache.exchange import Transport
from shared.cache.observer import CacheObserver
from shared.cache.replies import ALARMING, DEAD, ErrorReply
from shared.cache.scripting import Script
from shared.cache.tier import Tier
from shared.cache.transport import Command, ExchangeFailed, Reply

log = structlog.get_logger("shared.cache")
_ALARM_EVERY = timedelta(hours=1)


@dataclass(frozen=True, slots=True)
class Operation:
    """What a call is for: labels, and whether it changes anything."""

    name: str
    family: str
    writes: bool = False


class Alarms:
    """Says each trouble once an hour, so that a full tier does not fill the log as well."""

    def __init__(self, tier: Tier, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._tier = tier
        self._monotonic = monotonic
        self._silent_until: dict[tuple[str, str], float] = {}

    def ring(self, event: str, about: str, **fields: object) -> None:
        """Log `event` unless it was logged about the same within the hour."""
        now = self._monotonic()
        if self._silent_until.get((event, about), now) <= now:
            self._silent_until[event, about] = now + _ALARM_EVERY.total_seconds()
            log.warning(event, tier=self._tier, about=about, **fields)


class Gateway:
    """Carries out operations on one tier and raises TierUnavailable or OutcomeUnknown, nothing else.

    Without a transport the tier is not configured, and says so at once.
    """

    def __init__(
        self, tier: Tier, transport: Transport | None, deadline: timedelta, observer: CacheObserver
    ) -> None:
        self.tier = tier
        self.transport = transport
        self.deadline = deadline
        self.observer = observer
        self.breaker = Breaker(changed=self._breaker_changed)
        self.alarms = Alarms(tier)

    async def perform(self, operation: Operation, *commands: Command) -> list[Reply]:
        """Send the commands together; the first error reply fails them all."""
        replies = await self._exchange(operation, commands, self._deadline_at())
        for reply in replies:
            if isinstance(reply, ErrorReply):
                raise await self._refused(operation, reply)
        return replies

    async def run(
        self, operation: Operation, script: Script, keys: Sequence[bytes], *arguments: bytes | str | int
    ) -> Reply:
        """Run a script by its digest, and by its text when the server has forgotten it."""
        at = self._deadline_at()
        rest = (len(keys), *keys, *arguments)
        (reply,) = await self._exchange(operation, [("EVALSHA", script.digest, *rest)], at)
        if isinstance(reply, ErrorReply) and reply.reason is Reason.NO_SCRIPT:
            (reply,) = await self._exchange(operation, [("EVAL", script.source, *rest)], at)
        if isinstance(reply, ErrorReply):
            raise await self._refused(operation, reply)
        return reply

    def unavailable(self, operation: Operation, reason: Reason, *, sent: bool = False) -> TierUnavailable:
        """Count a call that was not answered, and make its error."""
        unknown = sent and operation.writes
        result = "unknown" if unknown else "error"
        self.observer.counted(self.tier, operation.family, operation.name, result)
        self.observer.failed(self.tier, reason)
        if reason in ALARMING:
            self.alarms.ring("tier_alarm", reason, family=operation.family)
        return OutcomeUnknown(self.tier, reason) if unknown else TierUnavailable(self.tier, reason)

    async def aclose(self) -> None:
        """Close every connection."""
        if self.transport is not None:
            await self.transport.aclose()

    def _deadline_at(self) -> float:
        return asyncio.get_running_loop().time() + self.deadline.total_seconds()

    async def _exchange(self, operation: Operation, commands: Sequence[Command], at: float) -> list[Reply]:
        if self.transport is None:
            raise self.unavailable(operation, Reason.NOT_CONFIGURED)
        ticket = self.breaker.admit()
        if ticket is Ticket.REFUSED:
            raise self.unavailable(operation, Reason.BREAKER_OPEN)
        began = time.monotonic()
        try:
            replies = await self.transport.exchange(commands, at, partial(self._given_up, ticket))
        except ExchangeFailed as failure:
            self._settle(ticket, failure.reason)
            raise self.unavailable(operation, failure.reason, sent=failure.sent) from None
        except BaseException:
            self.breaker.abandoned(ticket)
            raise
        finally:
            self.observer.took(self.tier, operation.name, time.monotonic() - began)
            self.observer.pool_used(self.tier, self.transport.in_use, self.transport.pool_size)
        self._settle(ticket, _worst(replies))
        return replies

    def _given_up(self, ticket: Ticket) -> bool:
        """Whether the breaker opened while an ordinary call waited for a connection."""
        return ticket is Ticket.NORMAL and self.breaker.state is not BreakerState.CLOSED

    def _settle(self, ticket: Ticket, reason: Reason | None) -> None:
        if reason is Reason.BREAKER_OPEN:
            self.breaker.abandoned(ticket)
        elif reason in DEAD:
            self.breaker.failed(ticket, reason)
        else:
            self.breaker.succeeded(ticket)

    async def _refused(self, operation: Operation, reply: ErrorReply) -> TierUnavailable:
        if reply.reason is Reason.WRITES_REFUSED and self.transport is not None:
            # After a failover the old master answers READONLY for as long as somebody keeps talking to it.
            await self.transport.drop_idle()
        return self.unavailable(operation, reply.reason)

    def _breaker_changed(self, state: BreakerState, reason: str) -> None:
        log.info("tier_breaker_changed", tier=self.tier, state=state, reason=reason)
        self.observer.breaker_changed(self.tier, state)


def _worst(replies: Sequence[Reply]) -> Reason | None:
    """The reason that says that the server does not serve, if any reply has one."""
    reasons = (reply.reason for reply in replies if isinstance(reply, ErrorReply))
    return next((reason for reason in reasons if reason in DEAD), None)
