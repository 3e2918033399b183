"""Two workers of one installation: PostgreSQL and Valkey are shared, and nothing else is."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from dataclasses import dataclass

import pytest
import pytest_asyncio

from shared.testing.servers import KeyValueServer, PostgresServer
from tests.conformance.auth.provider.provider import open_provider
from tests.conformance.auth.targets.ours import KV_DEADLINE, KV_URL, Ours, open_ours


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
    async with AsyncExitStack() as stack:
        url = stack.enter_context(postgres.database())
        one = await stack.enter_async_context(open_ours(url, directory, valkey.url))
        # Only while it is opened: it lives beside the tests of other files.
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv(KV_URL, valkey.url)
            patch.setenv(KV_DEADLINE, "PT2S")
            provider = await stack.enter_async_context(open_provider(url, directory))
        yield Workers(one, Ours(provider, one.metadata))
