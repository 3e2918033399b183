"""`Cache`: the one class that serves both tiers, injected twice as `kv` and `cache`."""

from __future__ import annotations

import hashlib
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from typing import Any, Self

from shared.cache import codec
from shared.cache.breaker import Breaker
from shared.cache.entries import Entries, milliseconds_of, payload_of
from shared.cache.errors import Reason, TierUnavailable
from shared.cache.gateway import Gateway, Operation
from shared.cache.hub import Hub, HubPolicy
from shared.cache.information import FamilySurvey, Inspector, TierInformation
from shared.cache.keys import Key, KeyFamily, Kind
from shared.cache.lists import Appended, Lists, LogItem, LogPolicy, LogTarget
from shared.cache.loading import Load, Loader
from shared.cache.observer import CacheObserver, Unobserved
from shared.cache.outcomes import Counted, Taken, TakeOutcome
from shared.cache.scripting import script
from shared.cache.steps import Advanced, LogStep, Steps
from shared.cache.subscriptions import Subscription
from shared.cache.tier import DEADLINES, Tier

_QUEUE_LIMIT = 1_000


class Cache:
    """One tier. Reads answer the value or None; what cannot be answered raises TierUnavailable, nothing else.

    A write that was sent and not answered raises OutcomeUnknown. Nothing is ever sent twice. Every call ends
    by the tier's deadline. A key of another tier, or a value that is not JSON, is a mistake: ValueError.
    """

    def __init__(
        self, gateway: Gateway, *, database: int = 0, namespace: str = "", hub_policy: HubPolicy | None = None
    ) -> None:
        self.tier = gateway.tier
        self.database = database
        self.namespace = namespace
        self._gateway = gateway
        self._prefix = f"{namespace}:" if namespace else ""
        self._entries = Entries(gateway, self._name_of)
        self._lists = Lists(gateway, self._name_of)
        self._steps = Steps(gateway, self._name_of)
        self._loader = Loader(gateway, self._entries)
        self._inspector = Inspector(gateway, self._prefix)
        self._hub = (
            Hub(gateway, gateway.transport, self._name_of, hub_policy or HubPolicy())
            if gateway.transport
            else None
        )

    @classmethod
    def unconfigured(cls, tier: Tier, observer: CacheObserver | None = None) -> Self:
        """A tier that is not there: `get_or_load` loads, everything else raises TierUnavailable at once."""
        return cls(Gateway(tier, None, DEADLINES[tier], observer or Unobserved()))

    @property
    def configured(self) -> bool:
        """Whether there is a server for this tier at all."""
        return self._gateway.transport is not None

    @property
    def breaker(self) -> Breaker:
        """State and history, for the tiers page."""
        return self._gateway.breaker

    @property
    def gateway(self) -> Gateway:
        """The way to the server, for the prober."""
        return self._gateway

    async def aclose(self) -> None:
        """End subscriptions and loads, and close every connection."""
        if self._hub is not None:
            await self._hub.aclose()
        await self._loader.aclose()
        await self._gateway.aclose()

    # --- one value

    async def get_json(self, key: Key) -> Any:
        """The value; None when there is none, it is known that there is none, or it cannot be understood."""
        return (await self._entries.find(key)).value

    async def get_many_json(self, keys: Sequence[Key]) -> list[Any]:
        """The values in the order of the keys, None where there is none."""
        return await self._entries.find_many(list(keys)) if keys else []

    async def get_or_load(self, key: Key, load: Load, *, ttl_seconds: float) -> Any:
        """The value, loaded once at a time in this process; None is remembered as the family declares.

        Never raises TierUnavailable of its own. `load` runs in a task of its own and may outlive the caller,
        so it must not use what belongs to the caller, such as a session. Treat the answer as read-only:
        others have it too. A TTL of 0 switches the cache off.
        """
        return await self._loader.get_or_load(key, load, ttl_seconds)

    async def set_json(self, key: Key, value: Any, *, ttl_seconds: float) -> None:
        """Write a value, whatever was there. Idempotent."""
        payload = payload_of(key.family, value)
        await self._entries.store(key, payload, milliseconds_of(key.family, ttl_seconds))

    async def set_json_if_absent(self, key: Key, value: Any, *, ttl_seconds: float) -> bool:
        """Write a value where there is none; of many who try, one gets True."""
        payload = payload_of(key.family, value)
        return await self._entries.store(key, payload, milliseconds_of(key.family, ttl_seconds), "NX")

    async def exchange(self, key: Key, seen: Any, value: Any, *, ttl_seconds: float) -> bool:
        """Put a value in the place of the one that was seen; False when another is there by now."""
        payload = payload_of(key.family, value)
        digest = hashlib.sha1(codec.encode(key.family, seen), usedforsecurity=False).hexdigest()
        return await self._entries.fill(key, payload, milliseconds_of(key.family, ttl_seconds), digest)

    async def keep(self, *keys: Key, ttl_seconds: float) -> None:
        """Give keys a new end; those that are not there stay so."""
        await self._steps.keep(keys, ttl_seconds)

    async def take_json(self, key: Key) -> Any:
        """The value, removed in the same step: of many who take, one gets it."""
        return await self._entries.take(key)

    async def take_and_tombstone(self, key: Key, tombstone: Key, *, ttl_seconds: float) -> Taken:
        """Take a value and leave it under `tombstone`, in one step, so that a replay is recognised as one."""
        operation = Operation("take_and_tombstone", key.family.name, writes=True)
        milliseconds = milliseconds_of(tombstone.family, ttl_seconds)
        names = [self._name_of(key), self._name_of(tombstone)]
        outcome, raw = await self._gateway.run(operation, script("take_and_tombstone"), names, milliseconds)
        family = key.family if outcome == TakeOutcome.TAKEN else tombstone.family
        self._entries.counted(operation, TakeOutcome(outcome).name.lower())
        return Taken(TakeOutcome(outcome), codec.decode(family, raw).value)

    async def delete(self, *keys: Key) -> int:
        """Remove keys; how many there were. A load in flight may bring one back: see `invalidate`."""
        if not keys:
            return 0
        operation = Operation("delete", keys[0].family.name, writes=True)
        for key in keys:
            self._loader.flights.leave_behind(key.name)
        (removed,) = await self._gateway.perform(operation, ("UNLINK", *map(self._name_of, keys)))
        self._entries.counted(operation, "deleted")
        return int(removed)

    # --- fences

    async def revoke(self, key: Key, *, ttl_seconds: float) -> None:
        """Answer "there is none" from now on: no load that began before this returns can store over it.

        The TTL must be at least as long as the longest load. Idempotent.
        """
        await self._mark(key, codec.tombstone(key.family), ttl_seconds)

    async def invalidate(self, key: Key, *, ttl_seconds: float) -> None:
        """Make readers load anew, and keep loads that began before from storing. TTL as above."""
        if key.family.kind is not Kind.JSON:
            raise ValueError(f"{key.family.name}: only JSON values can be invalidated")
        await self._mark(key, codec.fence(), ttl_seconds)

    async def fill_unless_revoked(self, key: Key, value: Any, *, ttl_seconds: float) -> bool:
        """Store what was loaded where nothing is; False when something, such as a tombstone, is there."""
        payload = payload_of(key.family, value)
        return await self._entries.fill(key, payload, milliseconds_of(key.family, ttl_seconds), seen="")

    # --- counters

    async def increment(self, key: Key, *, ttl_seconds: float, by: int = 1) -> Counted:
        """Count; the end is fixed at the first count. Not idempotent: OutcomeUnknown may have counted."""
        operation = Operation("increment", key.family.name, writes=True)
        milliseconds = milliseconds_of(key.family, ttl_seconds)
        value, left = await self._gateway.run(
            operation, script("increment_with_ttl"), [self._name_of(key)], by, milliseconds
        )
        self._entries.counted(operation, "stored")
        return Counted(value, left / 1000)

    async def read_counter(self, key: Key) -> Counted | None:
        """The count and the seconds until it ends; None when nothing was counted."""
        operation = Operation("read_counter", key.family.name)
        name = self._name_of(key)
        raw, left = await self._gateway.perform(operation, ("GET", name), ("PTTL", name))
        decoded = codec.decode(key.family, raw)
        self._entries.counted(operation, decoded.state)
        return None if decoded.value is None else Counted(decoded.value, max(left, 0) / 1000)

    async def bump_version(self, key: Key, *, at_least: int) -> int:
        """Raise a version by one, and to `at_least` if that is higher: the one write without a TTL."""
        if key.family.kind is not Kind.VERSION:
            raise ValueError(f"{key.family.name} is not a version: it needs a TTL")
        operation = Operation("bump_version", key.family.name, writes=True)
        version = await self._gateway.run(operation, script("bump_version"), [self._name_of(key)], at_least)
        self._entries.counted(operation, "stored")
        return int(version)

    # --- lists and logs

    async def append(self, key: Key, *values: Any, ttl_seconds: float) -> int:
        """Add at the end and keep the newest, as many as the family's cap; the length."""
        return await self._lists.append(key, values, ttl_seconds)

    async def push_window(self, key: Key, value: Any, *, ttl_seconds: float) -> int:
        """Put in front and keep as many as the family's cap; the length."""
        return await self._lists.push_window(key, value, ttl_seconds)

    async def append_and_publish(
        self, target: LogTarget, *values: Any, ttl_seconds: float, policy: LogPolicy | None = None
    ) -> list[Appended]:
        """Number, store and publish each item in one step; nothing when the guard key is gone."""
        return await self._lists.append_and_publish(target, values, policy or LogPolicy(), ttl_seconds)

    async def advance(self, step: LogStep, *values: Any, ttl_seconds: float) -> Advanced:
        """Exchange a state, and number, store and publish what follows from it, in one step."""
        return await self._steps.advance(step, values, ttl_seconds)

    async def read_list(self, key: Key, start: int = 0, stop: int = -1) -> list[Any]:
        """The items between two positions, both included; negative ones count from the end."""
        return await self._lists.read(key, start, stop)

    async def read_log(self, key: Key, start: int = 0) -> list[LogItem]:
        """The items of a numbered log from a position on, with their numbers; -1 is the last one."""
        return await self._lists.read_log(key, start)

    # --- pub/sub

    async def publish(self, key: Key, value: Any) -> int:
        """Tell every process that listens; how many connections heard. None hearing is not an error."""
        operation = Operation("publish", key.family.name, writes=True)
        (heard,) = await self._gateway.perform(
            operation, ("PUBLISH", self._name_of(key), codec.encode(key.family, value))
        )
        self._entries.counted(operation, "published")
        return int(heard)

    @asynccontextmanager
    async def subscribe(self, key: Key, *, limit: int = _QUEUE_LIMIT) -> AsyncIterator[Subscription]:
        """Listen: what is published from then on is heard, or a Resync says that it may not have been."""
        if self._hub is None:
            raise self._gateway.unavailable(Operation("subscribe", key.family.name), Reason.NOT_CONFIGURED)
        subscription = await self._hub.open(key, limit)
        try:
            yield subscription
        finally:
            await self._hub.close(subscription)

    # --- for people and gates

    async def scan_count(self, family: KeyFamily) -> int:
        """How many keys of a family there are."""
        return await self._inspector.count(family)

    async def survey(self, family: KeyFamily) -> FamilySurvey:
        """Count, bytes and TTL range of a family."""
        return await self._inspector.survey(family)

    async def info(self) -> TierInformation:
        """What the server says of itself."""
        return await self._inspector.info()

    def names(self) -> AsyncIterator[str]:
        """Every key of our namespace in our database, for the gate that looks for undeclared ones."""
        return self._inspector.names()

    async def server_time(self) -> datetime:
        """The server's clock: the one that hosts can share."""
        (reply,) = await self._gateway.perform(Operation("time", "-"), ("TIME",))
        return datetime.fromtimestamp(int(reply[0]) + int(reply[1]) / 1_000_000, UTC)

    async def _mark(self, key: Key, mark: bytes, ttl_seconds: float) -> None:
        # Before and after: who joins a flight that took off earlier would get what it is about to bring.
        self._loader.flights.leave_behind(key.name)
        try:
            await self._entries.store(key, mark, milliseconds_of(key.family, ttl_seconds))
        finally:
            self._loader.flights.leave_behind(key.name)

    def _name_of(self, key: Key) -> bytes:
        if key.family.tier is not self.tier:
            raise ValueError(f"{key.family.name} belongs to {key.family.tier}, not to {self.tier}")
        return (self._prefix + key.name).encode()


__all__ = ["Cache", "Counted", "TakeOutcome", "Taken", "TierUnavailable"]
