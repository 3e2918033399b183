"""`get_or_load`: read, or load once and fill, whatever happens to tier, loader or caller meanwhile."""

from __future__ import annotations

import asyncio
import math
import random
import time
from collections.abc import Awaitable, Callable
from dataclasses import replace
from functools import partial
from typing import Any

from shared.cache import codec
from shared.cache.codec import State
from shared.cache.entries import Entries, Entry, in_last_part, milliseconds_of, payload_of
from shared.cache.errors import LoadRecentlyFailed, TierUnavailable
from shared.cache.flights import Flights
from shared.cache.gateway import Gateway, Operation
from shared.cache.keys import FILL_MARK, Key, KeyFamily
from shared.kernel.errors import AppError, Kind
from shared.kernel.ids import short_id

Load = Callable[[], Awaitable[Any]]

#: Loads of one family at a time while its tier is down; the rest wait for their turn.
_LOADS_WITHOUT_TIER = 8
#: A process that dies while it fills holds the others up no longer than this.
_FILL_TOKEN_MILLISECONDS = 5_000
_MANY_FAILURES = 1_000


class Loader:
    """Loads for one tier: single flight always, the rest as each family declares."""

    def __init__(self, gateway: Gateway, entries: Entries) -> None:
        self._gateway = gateway
        self._entries = entries
        self._gates: dict[str, asyncio.Semaphore] = {}
        self._failed_until: dict[str, float] = {}
        self._load_seconds: dict[str, float] = {}
        self.flights = Flights()

    async def get_or_load(self, key: Key, load: Load, ttl_seconds: float) -> Any:
        """The value, None when there is none."""
        if self._gateway.transport is None or ttl_seconds <= 0:
            return await self._load_alone(key, load)
        try:
            entry = await self._find(key)
        except TierUnavailable:
            return await self._load_alone(key, partial(self._one_of_few, key.family, load))
        work = partial(self._refill, key, load, entry, ttl_seconds)
        if entry.answers and not _is_stale(key.family, entry):
            if self._refreshes_early(key.family, entry, ttl_seconds):
                self.flights.launch(key.name, work)
            return entry.value
        return await self.flights.join(key.name, work)

    async def _find(self, key: Key) -> Entry:
        landed = self.flights.landing(key.name)
        entry = await self._entries.find(key)
        if not entry.answers and self.flights.landing(key.name) != landed:
            # What was missing when the question was sent has been filled since: look again, do not load.
            entry = await self._entries.find(key)
        return entry

    async def aclose(self) -> None:
        """End the loads that still run."""
        await self.flights.aclose()

    async def _load_alone(self, key: Key, load: Load) -> Any:
        self._count(key.family, "fallback")
        if key.family.correctness:
            # A flight that took off before a revocation would land its answer on callers who came after it;
            # with no tombstone to stop them there, each of them looks for itself.
            return await load()
        return await self.flights.join(key.name, load)

    async def _one_of_few(self, family: KeyFamily, load: Load) -> Any:
        """Without the tier, every miss of every process reaches the database: let it not be all at once."""
        async with self._gates.setdefault(family.name, asyncio.Semaphore(_LOADS_WITHOUT_TIER)):
            return await load()

    async def _refill(self, key: Key, load: Load, entry: Entry, ttl_seconds: float) -> Any:
        spare = entry.answers
        if self._failed_until.get(key.name, 0.0) > time.monotonic():
            if spare:
                return self._stale(key.family, entry)
            raise LoadRecentlyFailed
        token = await self._claim(key)
        if token is None and spare:
            return self._stale(key.family, entry)
        try:
            value = await self._load(key, load)
        except Exception as error:
            if not _is_failure(error):
                raise
            self._remember_failure(key)
            if not spare:
                raise
            return self._stale(key.family, entry)
        else:
            await self._fill(key, value, entry, ttl_seconds)
            return value
        finally:
            await self._give_back(key, token)

    async def _load(self, key: Key, load: Load) -> Any:
        began = time.monotonic()
        value = await load()
        took = time.monotonic() - began
        known = self._load_seconds.get(key.family.name, took)
        self._load_seconds[key.family.name] = known + (took - known) / 8
        self._failed_until.pop(key.name, None)
        self._count(key.family, "loaded")
        return value

    async def _fill(self, key: Key, value: Any, entry: Entry, ttl_seconds: float) -> None:
        family = key.family
        if value is None:
            if family.negative_ttl is None:
                return
            payload, seconds = codec.negative(family), family.negative_ttl.total_seconds()
        else:
            payload, seconds = payload_of(family, value), ttl_seconds
            seconds += family.stale_ttl.total_seconds() if family.stale_ttl else 0
        try:
            await self._entries.fill(key, payload, milliseconds_of(family, seconds), entry.seen)
        except TierUnavailable:
            return  # counted; the value was loaded and is right

    async def _claim(self, key: Key) -> str | None:
        """A token when this process may load; "" where the family asks for none or the tier gives none."""
        if not key.family.fill_token:
            return ""
        token = short_id()
        try:
            claimed = await self._entries.claim(key, FILL_MARK, token, _FILL_TOKEN_MILLISECONDS)
        except TierUnavailable:
            return ""
        return token if claimed else None

    async def _give_back(self, key: Key, token: str | None) -> None:
        if token:
            try:
                await self._entries.release(key, FILL_MARK, token)
            except TierUnavailable:
                return  # it ends by itself

    def _refreshes_early(self, family: KeyFamily, entry: Entry, ttl_seconds: float) -> bool:
        """XFetch: the nearer the end and the dearer the load, the likelier (Vattani and others, 2015)."""
        stale = family.stale_ttl.total_seconds() if family.stale_ttl else 0
        if family.refresh_ahead and in_last_part(replace(entry, left=entry.left - stale), ttl_seconds):
            return True
        if not family.early_refresh or entry.state is not State.HIT or entry.left == math.inf:
            return False
        left = entry.left - stale
        cost = self._load_seconds.get(family.name, 0.0)
        return -cost * math.log(1 - random.random()) >= left  # noqa: S311 - not a secret

    def _remember_failure(self, key: Key) -> None:
        now = time.monotonic()
        if len(self._failed_until) >= _MANY_FAILURES:
            self._failed_until = {name: until for name, until in self._failed_until.items() if until > now}
        self._failed_until[key.name] = now + key.family.error_ttl.total_seconds()
        self._count(key.family, "load_failed")

    def _stale(self, family: KeyFamily, entry: Entry) -> Any:
        self._count(family, "stale")
        return entry.value

    def _count(self, family: KeyFamily, result: str) -> None:
        self._entries.counted(Operation("load", family.name), result)


def _is_stale(family: KeyFamily, entry: Entry) -> bool:
    # "There is none" is never stale: a tombstone must not be loaded over, however short its time is.
    kept = family.stale_ttl
    return kept is not None and entry.state is State.HIT and entry.left < kept.total_seconds()


def _is_failure(error: Exception) -> bool:
    """A refusal is an answer of the loader; only what may go away by itself is a failure."""
    return not isinstance(error, AppError) or error.kind is Kind.UNAVAILABLE
