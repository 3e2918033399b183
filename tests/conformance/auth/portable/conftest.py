"""The same tests on every store of ours and on npm oidc-provider."""

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from shared.testing.servers import KeyValueServer, PostgresServer
from tests.conformance.auth.rows import PEER
from tests.conformance.auth.targets.ours import open_ours
from tests.conformance.auth.targets.peer import open_peer
from tests.conformance.auth.targets.target import Target, Visitor

ON_POSTGRESQL = "postgresql"
ON_VALKEY = "postgresql with valkey"


@pytest_asyncio.fixture(
    scope="session", loop_scope="session", params=["sqlite", ON_POSTGRESQL, ON_VALKEY, PEER]
)
async def target(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Target]:
    if request.param == PEER:
        async with open_peer() as peer:
            yield peer
        return
    directory = tmp_path_factory.mktemp("portable")
    if request.param == "sqlite":
        async with open_ours(f"sqlite:///{directory / 'auth.db'}", directory, None) as ours:
            yield ours
        return
    postgres: PostgresServer = request.getfixturevalue("postgres")
    valkey: KeyValueServer | None = request.getfixturevalue("valkey") if request.param == ON_VALKEY else None
    with postgres.database() as url:
        async with open_ours(url, directory, valkey.url if valkey else None) as ours:
            yield ours


@pytest_asyncio.fixture(loop_scope="session")
async def ada(target: Target) -> Visitor:
    """Somebody who is signed in."""
    return await target.person()
