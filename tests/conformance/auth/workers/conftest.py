"""Two workers of one installation: PostgreSQL and Valkey are shared, and nothing else is."""

from collections.abc import AsyncIterator
from dataclasses import dataclass

import pytest
import pytest_asyncio

from shared.testing.servers import KeyValueServer, PostgresServer
from tests.conformance.auth.provider.provider import open_provider
from tests.conformance.auth.targets.ours import KV_URL, Ours, open_ours


@dataclass(frozen=True)
class Workers:
    """Both, whose clocks stand still at the same time."""

    one: Ours
    other: Ours


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def workers(
    postgres: PostgresServer, valkey: KeyValueServer, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Workers]:
    directory = tmp_path_factory.mktemp("workers")
    with postgres.database() as url, pytest.MonkeyPatch.context() as patch:
        async with open_ours(url, directory, valkey.url) as one:
            patch.setenv(KV_URL, valkey.url)
            async with open_provider(url, directory) as provider:
                yield Workers(one, Ours(provider, one.metadata))
