"""A registry on each database, and a repository for it to follow."""

import asyncio
import shutil
from collections.abc import AsyncIterator, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx2
import pytest
from fastapi import FastAPI
from sqlalchemy import select

from registry_server.mirror.schemas import SyncRead, SyncTrigger
from registry_server.mirror.service import MirrorService
from registry_server.objects.models import (
    FilterRow,
    NetworkRow,
    ObjectRow,
    ProblemRow,
    ReferenceRow,
    RouteRow,
    TextRow,
)
from registry_server.objects.schemas import IndexCounts
from registry_server.resources import RegistryResources, open_resources
from registry_server.samples.schemas import Manifest, SamplePlan
from registry_server.samples.service import generate
from registry_server.settings import RegistrySettings
from shared.database import DatabaseSettings, open_database
from shared.database.migrations import upgrade
from shared.testing.servers import KeyValueServer, PostgresServer
from tests.integration.registry.upstream import Upstream

DATABASES = ("sqlite", "postgresql")


def migrate(url: str) -> None:
    async def run() -> None:
        database = open_database(DatabaseSettings.model_validate({"url": url}))
        await upgrade(database, "registry_server")
        await database.close()

    # In a thread, because a fixture with a running loop may be the first to ask.
    with ThreadPoolExecutor(1) as threads:
        threads.submit(lambda: asyncio.run(run())).result()


@pytest.fixture(scope="session")
def sqlite_template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("template") / "registry.db"
    migrate(f"sqlite:///{path}")
    return path


@pytest.fixture(scope="session")
def postgres_template(postgres: PostgresServer) -> str:
    postgres.add_template("registry", migrate)
    return "registry"


@contextmanager
def fresh_database(request: pytest.FixtureRequest, directory: Path) -> Iterator[str]:
    """A migrated database of the kind that the request asks for."""
    if request.param == "sqlite":
        copied = shutil.copy(request.getfixturevalue("sqlite_template"), directory / "registry.db")
        yield f"sqlite:///{copied}"
        return
    template = request.getfixturevalue("postgres_template")
    server: PostgresServer = request.getfixturevalue("postgres")
    valkey: KeyValueServer = request.getfixturevalue("valkey")
    with server.database(template) as url, pytest.MonkeyPatch.context() as patch:
        # The runtime state of a service on PostgreSQL, beside which memory:// is refused.
        patch.setenv("REDIS_URL", f"{valkey.url}/7")
        yield url


@pytest.fixture(params=DATABASES)
def database_url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    with fresh_database(request, tmp_path) as url:
        yield url


@dataclass(slots=True)
class HandClock:
    """A clock that moves when told to."""

    at: datetime = datetime(2030, 1, 1, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.at

    def advance(self, step: timedelta) -> None:
        self.at += step


@dataclass(slots=True)
class Seen:
    """What the mirror told its observer."""

    syncs: list[SyncRead] = field(default_factory=list)

    def synced(self, sync: SyncRead, counts: IndexCounts | None) -> None:
        self.syncs.append(sync)


@dataclass(frozen=True, slots=True)
class Registry:
    """One process of the registry, without HTTP."""

    resources: RegistryResources
    mirror: MirrorService
    seen: Seen
    clock: HandClock

    async def sync(self, *, force: bool = False) -> SyncRead:
        return await self.mirror.sync(SyncTrigger.REQUEST, force=force)

    async def raws(self) -> dict[str, bytes]:
        async with self.resources.database.reading() as session:
            return {row[0]: row[1] for row in await session.execute(select(ObjectRow.path, ObjectRow.raw))}

    async def problems(self) -> list[tuple[str, str, int | None]]:
        """All problems with their paths, codes and lines."""
        dangling = select(ObjectRow.path, ReferenceRow.line).join(
            ReferenceRow, ReferenceRow.object_id == ObjectRow.id
        )
        async with self.resources.database.reading() as session:
            rows = await session.execute(select(ProblemRow.path, ProblemRow.code, ProblemRow.line))
            lost = await session.execute(dangling.where(ReferenceRow.dangling))
        found = [(row[0], row[1], row[2]) for row in rows]
        return sorted([*found, *((row[0], "dangling_reference", row[1]) for row in lost)], key=str)

    async def everything(self) -> dict[str, list[Any]]:
        """The whole index, without the numbers of its rows."""
        async with self.resources.database.reading() as session:
            paths = {row[0]: row[1] for row in await session.execute(select(ObjectRow.id, ObjectRow.path))}
            found: dict[str, list[Any]] = {}
            for model in (ObjectRow, ReferenceRow, RouteRow, NetworkRow, TextRow, ProblemRow, FilterRow):
                rows = [tuple(row) for row in await session.execute(select(*model.__table__.columns))]
                if model not in {ProblemRow, FilterRow}:
                    rows = [(paths[row[0]], *row[1:]) for row in rows]
                found[model.__tablename__] = sorted(rows, key=str)
        return found


@dataclass(slots=True)
class Registries:
    """Opens registries that follow an upstream; they share the database of the test."""

    url: str
    directory: Path
    stack: AsyncExitStack
    opened: int = 0

    def settings(self, upstream: Upstream, **mirror: Any) -> RegistrySettings:
        self.opened += 1
        return RegistrySettings.model_validate(
            {
                "database": {"url": self.url},
                "state_directory": self.directory / f"state-{self.opened}",
                "mirror": {"url": str(upstream.directory), **mirror},
            }
        )

    async def open(self, upstream: Upstream, **mirror: Any) -> Registry:
        return await self.open_with(self.settings(upstream, **mirror))

    async def open_with(self, settings: RegistrySettings) -> Registry:
        clock, seen = HandClock(), Seen()
        resources = await self.stack.enter_async_context(open_resources(settings, clock))
        return Registry(resources, resources.mirror(seen), seen, clock)


@pytest.fixture
async def registries(database_url: str, tmp_path: Path) -> AsyncIterator[Registries]:
    async with AsyncExitStack() as stack:
        yield Registries(database_url, tmp_path, stack)


@pytest.fixture
def upstream(tmp_path: Path) -> Upstream:
    return Upstream.create(tmp_path / "upstream.git")


@pytest.fixture(scope="session")
def sample(tmp_path_factory: pytest.TempPathFactory) -> tuple[Upstream, Manifest]:
    """A made-up registry that no test changes."""
    directory = tmp_path_factory.mktemp("sample") / "registry.git"
    manifest = generate(SamplePlan(objects=1500, commits=40, seed=42), directory)
    return Upstream(directory), manifest


@asynccontextmanager
async def client_of(app: FastAPI) -> AsyncIterator[httpx2.AsyncClient]:
    async with app.router.lifespan_context(app):
        transport = httpx2.ASGITransport(app=app)
        async with httpx2.AsyncClient(transport=transport, base_url="http://localhost:8420") as client:
            yield client
