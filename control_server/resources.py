"""Everything that control_server opens, once, and hands to whoever needs it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

import httpx2

from control_server.durable import Durable, open_durable
from control_server.settings import ControlSettings
from shared.cache import Cache, Tier, open_cache
from shared.database import Database, open_database
from shared.kernel.clock import Clock, utc_now
from shared.runtime_state import RedisRuntimeClient, serving_runtime_state
from shared.web.outgoing import service_client
from shared.web.runtime_state import deployment_of

#: Number of this service's database in both tiers.
_DATABASE = 1


@dataclass(frozen=True, slots=True)
class ControlResources:
    """Open resources of one process."""

    settings: ControlSettings
    database: Database
    kv: Cache
    cache: Cache
    runtime_state: RedisRuntimeClient
    #: To the sign-in service; opens nothing before the first question.
    http: httpx2.AsyncClient
    #: Queues of background jobs.
    durable: Durable
    now: Clock


@asynccontextmanager
async def open_resources(settings: ControlSettings, now: Clock = utc_now) -> AsyncIterator[ControlResources]:
    """Open them for the life of the process or test. Raises RuntimeStateConfigurationError before any."""
    async with (
        serving_runtime_state(settings.runtime_state, deployment_of(settings)) as runtime_state,
        _stores(settings) as (database, kv, cache),
        service_client(settings.sign_in.seconds) as http,
        open_durable(settings, database) as durable,
    ):
        yield ControlResources(
            settings=settings,
            database=database,
            kv=kv,
            cache=cache,
            runtime_state=runtime_state,
            http=http,
            durable=durable,
            now=now,
        )


@asynccontextmanager
async def _stores(settings: ControlSettings) -> AsyncIterator[tuple[Database, Cache, Cache]]:
    database = open_database(settings.database)
    kv = open_cache(settings.kv, Tier.KV, "control", _DATABASE)
    cache = open_cache(settings.cache, Tier.CACHE, "control", _DATABASE)
    try:
        yield database, kv, cache
    finally:
        await kv.aclose()
        await cache.aclose()
        await database.close()
