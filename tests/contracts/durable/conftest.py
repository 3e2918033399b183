"""Every test here runs on Valkey, Redis, a Valkey Cluster, PostgreSQL and SQLite."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.contracts.durable.backends import Backend, open_backend
from tests.contracts.durable.servers import (
    CLUSTER,
    cluster_url,
    durable_postgres,
    locate,
    sqlite_template,
    valkey_state,
)

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

__all__ = ["cluster_url", "durable_postgres", "sqlite_template", "valkey_state"]


@pytest.fixture(params=["valkey", "redis", CLUSTER, "postgres", "sqlite"])
def location(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[str, str]:
    return locate(request.param, request, tmp_path)


@pytest.fixture
async def backend(location: tuple[str, str]) -> AsyncIterator[Backend]:
    async with open_backend(*location) as backend:
        yield backend
