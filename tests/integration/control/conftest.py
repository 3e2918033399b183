"""Control servers whose runtime state is in memory, in Valkey or in Redis."""

import asyncio
import secrets
import shutil
from collections.abc import AsyncIterator, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path
from urllib.parse import urlsplit

import httpx2
import pytest

from control_server.ways_in import make_session_link
from shared.database import DatabaseSettings, open_database
from shared.database.migrations import upgrade
from shared.runtime_state.creation import open_client
from shared.testing.servers import KeyValueServer, PostgresServer
from tests.integration.control.enrolment.office import Office, open_office

COOKIE = "__Host-rl_control"
CSRF = "t" * 43


@pytest.fixture(autouse=True)
def asks_as_often_as_it_likes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests ask again and again until something is so; those of the limit set one of their own."""
    monkeypatch.setenv("ROUTELOOM_CONTROL_API_TOKENS__REQUESTS_PER_MINUTE", "1000000")


@pytest.fixture(scope="session")
def migrated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("migrated") / "control.db"

    async def migrate() -> None:
        database = open_database(DatabaseSettings.model_validate({"url": f"sqlite:///{path}"}))
        await upgrade(database, "control_server")
        await database.close()

    # In a thread, because a fixture with a running loop may be the first to ask.
    with ThreadPoolExecutor(1) as threads:
        threads.submit(lambda: asyncio.run(migrate())).result()
    return path


@pytest.fixture(params=["memory", "valkey", "redis"])
def state_server(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> Iterator[KeyValueServer | None]:
    """The server of the runtime state, under a prefix of its own; None for memory."""
    if request.param == "memory":
        yield None
        return
    server: KeyValueServer = request.getfixturevalue(request.param)
    monkeypatch.setenv("REDIS_URL", f"{server.url}/7")
    monkeypatch.setenv("REDIS_KEY_PREFIX", f"test-{secrets.token_hex(4)}:")
    # What is counted here stays counted on a machine that is busy with other tests.
    monkeypatch.setattr(open_client, "__kwdefaults__", {"limits": None, "deadline": timedelta(minutes=1)})
    yield server


@pytest.fixture
async def on_each_state(
    state_server: KeyValueServer | None, migrated: Path, tmp_path: Path
) -> AsyncIterator[Office]:
    """A server on SQLite with each of the back ends."""
    assert state_server is None or state_server.url
    async with open_office(copied(migrated, tmp_path), tmp_path) as opened:
        yield opened


@pytest.fixture
async def lite(migrated: Path, tmp_path: Path) -> AsyncIterator[Office]:
    """A server as Lite has it."""
    async with open_office(copied(migrated, tmp_path), tmp_path) as opened:
        yield opened


@pytest.fixture(params=["sqlite", "postgresql"])
async def on_each_database(
    request: pytest.FixtureRequest, migrated: Path, tmp_path: Path
) -> AsyncIterator[Office]:
    if request.param == "sqlite":
        async with open_office(copied(migrated, tmp_path), tmp_path) as opened:
            yield opened
        return
    request.getfixturevalue("state_beside_postgres")
    postgres: PostgresServer = request.getfixturevalue("postgres")
    with postgres.database() as url:
        async with open_office(url, tmp_path) as opened:
            yield opened


async def signed_in(office: Office) -> dict[str, str]:
    """Headers of a browser that followed a one-time link, with its form token."""
    path = urlsplit(await make_session_link(office.resources)).path
    answer: httpx2.Response = await office.outside.get(path, headers={"Accept": "text/html"})
    return {
        "Cookie": f"{COOKIE}={answer.cookies[COOKIE]}; __Host-rl_csrf={CSRF}",
        "X-CSRF-Token": CSRF,
        "Sec-Fetch-Site": "same-origin",
    }


def copied(migrated: Path, directory: Path) -> str:
    shutil.copy(migrated, directory / "control.db")
    return f"sqlite:///{directory / 'control.db'}"
