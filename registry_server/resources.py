"""Everything that registry_server opens, once, and hands to whoever needs it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from registry_server.keys import CACHE_DATABASE
from registry_server.mirror.service import AfterSync, MirrorService, SyncObserver
from registry_server.mirror.store.lock import SyncLock
from registry_server.mirror.store.process import Git
from registry_server.mirror.store.progress import SyncBoard
from registry_server.mirror.store.repository import BareRepository
from registry_server.mirror.store.versions import Versions
from registry_server.roas.service.standing import authorised
from registry_server.settings import RegistrySettings
from registry_server.snapshot.service import SnapshotKeeper
from shared.cache import Cache, Tier, open_cache
from shared.database import Database, open_database
from shared.kernel.clock import Clock, utc_now
from shared.runtime_state import RedisRuntimeClient, serving_runtime_state
from shared.web.runtime_state import deployment_of


@dataclass(frozen=True, slots=True)
class RegistryResources:
    """Open resources of one process."""

    settings: RegistrySettings
    database: Database
    cache: Cache
    runtime_state: RedisRuntimeClient
    upstream: BareRepository
    lock: SyncLock
    snapshots: SnapshotKeeper
    now: Clock

    def mirror(self, observer: SyncObserver, applied: AfterSync | None = None) -> MirrorService:
        """The writer of the index, counted by `observer`; `applied` is awaited before a sync is answered."""
        return MirrorService(
            database=self.database,
            upstream=self.upstream,
            versions=Versions(self.cache),
            lock=self.lock,
            board=SyncBoard(self.runtime_state),
            settings=self.settings.mirror,
            authorised=authorised,
            observer=observer,
            applied=applied,
            now=self.now,
        )


@asynccontextmanager
async def open_resources(
    settings: RegistrySettings, now: Clock = utc_now
) -> AsyncIterator[RegistryResources]:
    """Open them for the life of the process or test. Raises RuntimeStateConfigurationError before any."""
    directory = settings.repository_directory
    async with (
        serving_runtime_state(settings.runtime_state, deployment_of(settings)) as runtime_state,
        _stores(settings) as (database, cache),
    ):
        yield RegistryResources(
            settings=settings,
            database=database,
            cache=cache,
            runtime_state=runtime_state,
            upstream=BareRepository(Git(directory, settings.mirror.time_limit), settings.mirror),
            snapshots=SnapshotKeeper(database),
            lock=SyncLock(directory.with_name(f"{directory.name}.lock")),
            now=now,
        )


@asynccontextmanager
async def _stores(settings: RegistrySettings) -> AsyncIterator[tuple[Database, Cache]]:
    database = open_database(settings.database)
    cache = open_cache(settings.cache, Tier.CACHE, "registry", CACHE_DATABASE)
    try:
        yield database, cache
    finally:
        await cache.aclose()
        await database.close()
