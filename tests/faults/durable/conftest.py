"""Real servers, real processes."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.contracts.durable.backends import copy_sqlite_file
from tests.contracts.durable.conftest import durable_postgres, sqlite_template
from tests.faults.durable.effects import Effects
from tests.faults.durable.nursery import Nursery, nursery
from tests.faults.durable.rollout import open_backend

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator

    from tests.contracts.durable.backends import Backend

__all__ = ["durable_postgres", "sqlite_template"]


@pytest.fixture(scope="session")
def worker_nursery() -> Iterator[Nursery]:
    with nursery() as workers:
        yield workers


@pytest.fixture
def workers(worker_nursery: Nursery) -> Iterator[Nursery]:
    yield worker_nursery
    worker_nursery.kill_all()


@pytest.fixture
def effects(tmp_path: Path) -> Effects:
    directory = tmp_path / "effects"
    directory.mkdir()
    return Effects(directory)


@pytest.fixture(params=["valkey", "postgres", "sqlite"])
def location(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[str, str]:
    name: str = request.param
    if name == "sqlite":
        return name, copy_sqlite_file(request.getfixturevalue("sqlite_template"), tmp_path)
    if name == "postgres":
        return name, request.getfixturevalue("durable_postgres")
    return name, f"{request.getfixturevalue(name).url}/1"


@pytest.fixture
async def backend(location: tuple[str, str]) -> AsyncIterator[Backend]:
    async with open_backend(*location) as opened:
        yield opened
