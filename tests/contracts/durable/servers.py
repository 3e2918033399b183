"""Fixtures of the servers behind the back ends; two folders of tests share them."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest
from sqlalchemy.ext.asyncio import create_async_engine

from shared.testing.servers import valkey_state_server
from tests.contracts.durable.backends import METADATA, copy_sqlite_file, create_sqlite_file
from tests.contracts.durable.cluster import valkey_cluster

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from shared.testing.servers import KeyValueServer, PostgresServer

CLUSTER = "cluster"


@pytest.fixture(scope="session")
def valkey_state(tmp_path_factory: pytest.TempPathFactory) -> Iterator[KeyValueServer]:
    """The instance that durable loops have for themselves, as the stack configures it."""
    with valkey_state_server(tmp_path_factory.mktemp("valkey-state")) as server:
        yield server


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
        asyncio.run(_create_tables(url))
        yield url


async def _create_tables(url: str) -> None:
    engine = create_async_engine(url)
    async with engine.begin() as connection:
        await connection.run_sync(METADATA.create_all)
    await engine.dispose()


def locate(name: str, request: pytest.FixtureRequest, tmp_path: Path) -> tuple[str, str]:
    """Which back end, and where; only the servers that are asked for are started."""
    if name == "sqlite":
        return name, copy_sqlite_file(request.getfixturevalue("sqlite_template"), tmp_path)
    if name == "postgres":
        return name, request.getfixturevalue("durable_postgres")
    if name == "cluster":
        return name, request.getfixturevalue("cluster_url")
    server: KeyValueServer = request.getfixturevalue("valkey_state" if name == "valkey" else name)
    return name, f"{server.url}/1"
