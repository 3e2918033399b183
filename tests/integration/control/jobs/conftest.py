"""The service on each back end of its queues, and a receiver."""

from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from shutil import copy

import pytest

from shared.testing.servers import KeyValueServer, PostgresServer, valkey_state_server
from tests.integration.control.jobs.plant import Plant, open_plant
from tests.integration.control.jobs.receiver import Receiver, receiving


@pytest.fixture(scope="session")
def valkey_state(tmp_path_factory: pytest.TempPathFactory) -> Iterator[KeyValueServer]:
    with valkey_state_server(tmp_path_factory.mktemp("valkey-state")) as server:
        yield server


@pytest.fixture
async def receiver() -> AsyncIterator[Receiver]:
    async with receiving() as opened:
        yield opened


@pytest.fixture
def sqlite_url(migrated: Path, tmp_path: Path) -> str:
    copy(migrated, tmp_path / "control.db")
    return f"sqlite:///{tmp_path / 'control.db'}"


@pytest.fixture
async def lite(sqlite_url: str, tmp_path: Path) -> AsyncIterator[Plant]:
    async with open_plant(sqlite_url, tmp_path) as opened:
        yield opened


@pytest.fixture
async def on_valkey(valkey_state: KeyValueServer, sqlite_url: str, tmp_path: Path) -> AsyncIterator[Plant]:
    async with open_plant(sqlite_url, tmp_path, durable_url(valkey_state)) as opened:
        yield opened


@pytest.fixture(params=["sqlite", "postgresql", "valkey"])
async def plant(request: pytest.FixtureRequest, sqlite_url: str, tmp_path: Path) -> AsyncIterator[Plant]:
    if request.param == "postgresql":
        request.getfixturevalue("state_beside_postgres")
        postgres: PostgresServer = request.getfixturevalue("postgres")
        with postgres.database() as url:
            async with open_plant(url, tmp_path) as opened:
                yield opened
        return
    on_server = request.param == "valkey"
    server_url = durable_url(request.getfixturevalue("valkey_state")) if on_server else None
    async with open_plant(sqlite_url, tmp_path, server_url) as opened:
        yield opened


_USED: dict[str, int] = {}


def durable_url(server: KeyValueServer) -> str:
    """A database of the server that no other test has used; 0 is the runtime state's."""
    _USED[server.url] = _USED.get(server.url, 0) % 15 + 1
    return f"{server.url}/{_USED[server.url]}"
