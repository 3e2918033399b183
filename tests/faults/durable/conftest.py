"""Real servers, real processes."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.contracts.durable.backends import open_backend
from tests.contracts.durable.servers import (
    cluster_url,
    durable_postgres,
    locate,
    sqlite_template,
    valkey_state,
)
from tests.faults.durable.effects import Effects
from tests.faults.durable.nursery import Nursery, nursery

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator

    from tests.contracts.durable.backends import Backend

__all__ = ["cluster_url", "durable_postgres", "sqlite_template", "valkey_state"]


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
    return locate(request.param, request, tmp_path)


@pytest.fixture
async def backend(location: tuple[str, str]) -> AsyncIterator[Backend]:
    async with open_backend(*location) as opened:
        yield opened
