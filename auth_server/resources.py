"""Everything that auth_server opens, once, and hands to whoever needs it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import httpx2

from auth_server.settings import AuthSettings
from shared.cache import Cache, Tier, open_cache
from shared.database import Database, open_database
from shared.kernel.clock import Clock, utc_now
from shared.kernel.recent import Recent
from shared.web.outgoing import service_client

#: Number of this service's database in the kv tier; it keeps nothing in the cache tier's default.
_DATABASE = 2
#: Seconds for an answer of another service, where whoever asks does not say less.
_PATIENCE = 3.0


@dataclass(frozen=True, slots=True)
class AuthResources:
    """Open resources of one process."""

    settings: AuthSettings
    database: Database
    kv: Cache
    cache: Cache
    #: To the registry service and to the captcha; opens nothing before the first question.
    http: httpx2.AsyncClient
    now: Clock
    #: Registrations that this process has read a moment ago.
    known_clients: Recent[str, Any] = field(default_factory=Recent)


@asynccontextmanager
async def open_resources(settings: AuthSettings, now: Clock = utc_now) -> AsyncIterator[AuthResources]:
    """Open them for the life of the process or test."""
    database = open_database(settings.database)
    kv = open_cache(settings.kv, Tier.KV, "auth", _DATABASE)
    cache = open_cache(settings.cache, Tier.CACHE, "auth", _DATABASE)
    http = service_client(_PATIENCE)
    try:
        yield AuthResources(settings=settings, database=database, kv=kv, cache=cache, http=http, now=now)
    finally:
        await http.aclose()
        await kv.aclose()
        await cache.aclose()
        await database.close()
