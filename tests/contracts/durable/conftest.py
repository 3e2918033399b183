"""Every test here runs on Valkey, Redis, a Valkey Cluster, PostgreSQL and SQLite."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest
from sqlalchemy.ext.asyncio import create_async_engine

from tests.contracts.durable.backends import (
    METADATA,
    Backend,
    copy_sqlite_file,
    create_sqlite_file,
    redis_backend,
    sql_backend,
)
from tests.contracts.durable.cluster import valkey_cluster

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator
    from pathlib import Path

    from shared.testing.servers import KeyValueServer, PostgresServer

NAMES = (
    "valkey",
    "redis",
    pytest.param("cluster", marks=pytest.mark.xdist_group("valkey-cluster")),
    "postgres",
    "sqlite",
)


@pytest.fixture(scope="session")
def cluster_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with valkey_cluster(tmp_path_factory.mktemp("cluster")) as url:
        yield url


@pytest.fixture(scope="session")
def sqlite_template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("durable") / "template.db"
    create_sqlite_file(path)
    return path


@pytest.fixture(scope="session")
def durable_postgres(postgres: PostgresServer) -> Iterator[str]:
    with postgres.database() as url:
        yield prepare_postgres(url)


def prepare_postgres(url: str) -> str:
    async def create() -> None:
        engine = create_async_engine(url)
        async with engine.begin() as connection:
            await connection.run_sync(METADATA.create_all)
        await engine.dispose()

    asyncio.run(create())
    return url


@pytest.fixture(params=NAMES)
def location(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[str, str]:
    """Which back end, and where; only the servers that are asked for are started."""
    name: str = request.param
    if name == "sqlite":
        return name, copy_sqlite_file(request.getfixturevalue("sqlite_template"), tmp_path)
    if name == "postgres":
        return name, request.getfixturevalue("durable_postgres")
    if name == "cluster":
        return name, request.getfixturevalue("cluster_url")
    server: KeyValueServer = request.getfixturevalue(name)
    return name, f"{server.url}/1"


@pytest.fixture
async def backend(location: tuple[str, str]) -> AsyncIterator[Backend]:
    name, url = location
    opened = sql_backend(name, url) if name in {"postgres", "sqlite"} else redis_backend(name, url)
    async with opened as backend:
        yield backend
