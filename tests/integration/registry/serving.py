"""A registry server with its ports open, over a repository that a test commits to."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from fastapi import FastAPI

from registry_server.app import create_app
from registry_server.mirror.schemas import SyncTrigger
from registry_server.roas.service.exports import RoaService
from registry_server.roas.service.routers import RouterCache
from registry_server.snapshot.service import SnapshotKeeper
from shared.testing.waiting import wait_until
from tests.integration.registry.conftest import Registries, Registry
from tests.integration.registry.network import FILES
from tests.integration.registry.upstream import Content, Upstream


@dataclass(frozen=True, slots=True)
class Served:
    """A registry server with open ports."""

    registry: Registry
    upstream: Upstream
    app: FastAPI

    @property
    def whois(self) -> int:
        port: int | None = self.app.state.ports["whois"].port
        assert port is not None
        return port

    @property
    def rtr(self) -> int:
        port: int | None = self.app.state.ports["rtr"].port
        assert port is not None
        return port

    @property
    def snapshots(self) -> SnapshotKeeper:
        return self.registry.resources.snapshots

    @property
    def roas(self) -> RoaService:
        service: RoaService = self.app.state.roas
        return service

    @property
    def routers(self) -> RouterCache:
        cache: RouterCache = self.app.state.routers
        return cache

    async def commit(self, files: Mapping[str | bytes, Content]) -> None:
        """Change the registry, sync, and go on once the protocols answer from it."""
        self.upstream.commit(files)
        await self.app.state.mirror.sync(SyncTrigger.REQUEST, force=True)


@asynccontextmanager
async def serving(
    registries: Registries,
    upstream: Upstream,
    files: Mapping[str | bytes, Content] | None = FILES,
    **more: Any,
) -> AsyncIterator[Served]:
    """Serve the files, with settings for the ports by name; without files nothing was synced yet."""
    ports = {name: {"port": 0, **more.get(name, {})} for name in ("whois", "rtr")}
    settings = registries.settings(upstream, interval="PT24H")
    settings = type(settings).model_validate(
        {**settings.model_dump(), **ports, **{name: more.get(name, {}) for name in ("roas", "cache")}}
    )
    if files is not None:
        upstream.commit(files)
    registry = await registries.open_with(settings)
    if files is not None:
        await registry.sync()
    app = create_app(settings, registry.resources)
    async with app.router.lifespan_context(app):
        served = Served(registry, upstream, app)
        await wait_until(lambda: all(port.port is not None for port in app.state.ports.values()))
        if files is not None:
            await wait_until(lambda: served.snapshots.current is not None)
        yield served
