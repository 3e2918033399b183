"""A registry server with an open whois port, on SQLite: what is answered does not depend on the database."""

from collections.abc import AsyncIterator

import pytest

from tests.integration.registry.conftest import Registries
from tests.integration.registry.serving import Served, serving
from tests.integration.registry.upstream import Upstream


@pytest.fixture
async def served(registries: Registries, upstream: Upstream) -> AsyncIterator[Served]:
    async with serving(registries, upstream) as running:
        yield running
