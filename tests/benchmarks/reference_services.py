"""The three services as the reference workload meets them: served over loopback, on both tiers."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

import httpx2
import pytest
from fastapi import FastAPI
from sqlalchemy import select, update

import control_server.nodes.store
import registry_server.lookup.store
from auth_server.app import create_app as create_auth
from auth_server.commands import seed as seed_auth
from auth_server.settings import AuthSettings
from control_server.app import create_app as create_control
from control_server.keys import REGISTRY as CONTROL_KEYS
from control_server.nodes.models import Node
from control_server.settings import ControlSettings
from registry_server.app import create_app as create_registry
from registry_server.keys import REGISTRY as REGISTRY_KEYS
from registry_server.objects.models import ObjectRow
from registry_server.resources import RegistryResources
from registry_server.samples.schemas import SamplePlan
from registry_server.samples.service import generate
from registry_server.settings import RegistrySettings
from shared.cache import Cache, KeyFamily, Tier
from shared.database import DatabaseSettings, open_database
from shared.database.migrations import upgrade
from shared.kernel.clock import utc_now
from shared.testing.servers import KeyValueServer
from shared.testing.servers.ports import free_loopback_port
from shared.testing.waiting import wait_until
from shared.web.server import Server, server_config
from shared.web.settings import WebSettings
from tests.integration.control.probes.stage import seed

NAMES = ("control", "auth", "registry")
NODES = [f"node-{number}" for number in range(10)]


@dataclass(frozen=True)
class Services:
    """What the load speaks to."""

    control: httpx2.AsyncClient
    control_url: str
    registry: httpx2.AsyncClient
    tokens: dict[str, str]
    look_ups: list[str]
    kv: Cache
    cache: Cache
    apps: dict[str, FastAPI]

    @property
    def viewer(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.tokens['viewer']}"}


@contextmanager
def compressed(factor: float) -> Iterator[None]:
    """The TTLs of the cache tier, shortened by the factor."""
    families = [
        family
        for registry in (CONTROL_KEYS, REGISTRY_KEYS)
        for family in registry
        if family.tier is Tier.CACHE and family.ttl
    ]
    kept = [(family, family.ttl, family.negative_ttl) for family in families]
    constants = [
        (control_server.nodes.store, "_TTL_SECONDS"),
        (registry_server.lookup.store, "RECORD_TTL"),
    ]
    with pytest.MonkeyPatch.context() as patch:
        for module, name in constants:
            patch.setattr(module, name, getattr(module, name) / factor)
        for family, ttl, negative in kept:
            _end(family, ttl / factor if ttl else None, negative / factor if negative else None)
        yield
    for family, ttl, negative in kept:
        _end(family, ttl, negative)


def _end(family: KeyFamily, ttl: timedelta | None, negative: timedelta | None) -> None:
    object.__setattr__(family, "ttl", ttl)
    object.__setattr__(family, "negative_ttl", negative)


@asynccontextmanager
async def opened(
    kv: KeyValueServer, cache: KeyValueServer, directory: Path, factor: float
) -> AsyncIterator[Services]:
    """Databases, a registry of its own making, and the services until the block ends."""
    databases = {name: await _migrated(name, directory) for name in NAMES}
    tokens = await _fleet(databases["control"])
    generate(SamplePlan(objects=1500, commits=20, seed=42), directory / "sample.git")
    ports = {name: free_loopback_port() for name in NAMES}
    urls = {name: f"http://localhost:{port}" for name, port in ports.items()}
    controls, auths, registries = _settings(Places(kv, cache, directory, databases, ports), factor)
    await seed_auth(auths)
    apps = {
        "control": create_control(controls),
        "auth": create_auth(auths),
        "registry": create_registry(registries),
    }
    async with AsyncExitStack() as stack:
        for app, web in zip(apps.values(), (controls.web, auths.web, registries.web), strict=True):
            await stack.enter_async_context(_served(app, web))
        clients = {
            name: await stack.enter_async_context(
                httpx2.AsyncClient(base_url=url, timeout=30, trust_env=False)
            )
            for name, url in urls.items()
        }
        look_ups = await _synced(apps["registry"].state.resources, clients["registry"])
        resources = apps["control"].state.resources
        await _labelled(resources.database, look_ups)
        yield Services(
            control=clients["control"],
            control_url=urls["control"],
            registry=clients["registry"],
            tokens=tokens,
            look_ups=look_ups,
            kv=resources.kv,
            cache=resources.cache,
            apps=apps,
        )


@dataclass(frozen=True)
class Places:
    """Where everything is."""

    kv: KeyValueServer
    cache: KeyValueServer
    directory: Path
    databases: dict[str, str]
    ports: dict[str, int]

    def of(self, name: str) -> dict[str, Any]:
        """What the settings of every service have."""
        return {
            "database": {"url": self.databases[name]},
            "state_directory": self.directory / name,
            "web": {"port": self.ports[name], "public_url": self.url("control"), "log_level": "ERROR"},
            "cache": {"url": self.cache.url},
        }

    def url(self, name: str) -> str:
        return f"http://localhost:{self.ports[name]}"


def _settings(at: Places, factor: float) -> tuple[ControlSettings, AuthSettings, RegistrySettings]:
    kv = {"kv": {"url": at.kv.url}}
    sample = {"mirror": {"url": str(at.directory / "sample.git")}}
    controls = {
        "agent_token_life": 60 / factor,
        "auth_url": at.url("auth"),
        "registry_url": at.url("registry"),
        # Requests are as many times as dense as the hour is short.
        "api_tokens": {"requests_per_minute": 1_000_000},
    }
    return (
        ControlSettings.model_validate(at.of("control") | kv | controls),
        AuthSettings.model_validate(at.of("auth") | kv),
        RegistrySettings.model_validate(
            at.of("registry") | sample | {"whois": {"port": None}, "rtr": {"port": None}}
        ),
    )


async def _migrated(name: str, directory: Path) -> str:
    (directory / name).mkdir()
    url = f"sqlite:///{directory / f'{name}.db'}"
    database = open_database(DatabaseSettings.model_validate({"url": url}))
    await upgrade(database, f"{name}_server")
    await database.close()
    return url


async def _fleet(url: str) -> dict[str, str]:
    database = open_database(DatabaseSettings.model_validate({"url": url}))
    try:
        return await seed(database, utc_now(), NODES)
    finally:
        await database.close()


@asynccontextmanager
async def _served(app: FastAPI, web: WebSettings) -> AsyncIterator[None]:
    server = Server(server_config(app, web), farewell=_none)
    serving = asyncio.create_task(server.serve())
    try:
        await wait_until(lambda: server.started or serving.done(), seconds=30)
        if serving.done():
            serving.result()
        yield
    finally:
        server.should_exit = True
        with contextlib.suppress(SystemExit):
            await serving


async def _none() -> None:
    """Nobody is told."""


async def _synced(resources: RegistryResources, client: httpx2.AsyncClient) -> list[str]:
    """Twenty things to look up that are there: numbers, maintainers and routes."""

    async def found() -> bool:
        async with resources.database.reading() as session:
            return await session.scalar(select(ObjectRow.path).limit(1)) is not None

    await wait_until(found, seconds=60)
    async with resources.database.reading() as session:
        paths = [row[0] for row in await session.execute(select(ObjectRow.path).order_by(ObjectRow.path))]
    numbers = [path.rsplit("/", 1)[1] for path in paths if path.startswith("data/aut-num/")]
    names = [path.rsplit("/", 1)[1] for path in paths if path.startswith("data/mntner/")]
    at = "/registry/api/v1"
    wanted = [
        ([f"{at}/asn/{number}" for number in numbers], 10),
        ([f"{at}/mntner/{name}" for name in names], 5),
        ([f"{at}/routes?origin={number}" for number in numbers], 5),
    ]
    return [path for paths, count in wanted for path in await _there(client, paths, count)]


async def _there(client: httpx2.AsyncClient, paths: list[str], count: int) -> list[str]:
    """The first of them that are good; a made-up registry has broken objects too."""
    found: list[str] = []
    for path in paths:
        if len(found) < count and (await client.get(path)).is_success:
            found.append(path)
    return found


async def _labelled(database: Any, look_ups: list[str]) -> None:
    async with database.transaction() as session:
        for node, look_up in zip(NODES, look_ups, strict=False):
            labels = {"asn": look_up.rsplit("/", 1)[1].removeprefix("AS")}
            await session.execute(update(Node).where(Node.id == node).values(labels=labels))
