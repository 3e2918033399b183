"""A registry server that gives out ROAs, on SQLite: they do not depend on the database."""

from collections.abc import AsyncIterator

import pytest

from tests.integration.registry.conftest import Registries
from tests.integration.registry.serving import Served, serving
from tests.integration.registry.upstream import Upstream


@pytest.fixture
async def served(registries: Registries, upstream: Upstream) -> AsyncIterator[Served]:
    async with serving(registries, upstream, rtr={"notify_every": "PT0S"}) as running:
        yield running
