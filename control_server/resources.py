"""Everything that control_server opens, once, and hands to whoever needs it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from control_server.settings import ControlSettings
from shared.cache import Cache, Tier, open_cache
from shared.database import Database, open_database
from shared.kernel.clock import Clock, utc_now

#: Number of this service's database in both tiers.
_DATABASE = 1


@dataclass(frozen=True, slots=True)
class ControlResources:
    """Open resources of one process."""

    settings: ControlSettings
    database: Database
    kv: Cache
    cache: Cache
    now: Clock


@asynccontextmanager
async def open_resources(settings: ControlSettings, now: Clock = utc_now) -> AsyncIterator[ControlResources]:
    """Open them for the life of the process or test."""
    database = open_database(settings.database)
    kv = open_cache(settings.kv, Tier.KV, "control", _DATABASE)
    cache = open_cache(settings.cache, Tier.CACHE, "control", _DATABASE)
    try:
        yield ControlResources(
            settings=settings,
            database=database,
            kv=kv,
            cache=cache,
            now=now,
        )
    finally:
        await kv.aclose()
        await cache.aclose()
        await database.close()
