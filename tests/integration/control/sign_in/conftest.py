import asyncio
import shutil
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from functools import partial
from pathlib import Path

import pytest
import pytest_asyncio

from auth_server.commands import seed
from shared.database import DatabaseSettings, open_database
from shared.database.migrations import upgrade
from shared.testing.servers import KeyValueServer, PostgresServer
from tests.integration.control.sign_in.house import House, auth_settings, open_house

PACKAGES = {"control": "control_server", "auth": "auth_server"}


def prepare(url: str, service: str, directory: Path) -> None:
    """Schema and signing keys, made once: drawing RSA keys takes longer than most tests."""

    async def work() -> None:
        database = open_database(DatabaseSettings.model_validate({"url": url}))
        await upgrade(database, PACKAGES[service])
        await database.close()
        if service == "auth":
            await seed(auth_settings(url, directory, "http://localhost:8420"))

    # In a thread, because a fixture with a running loop may be the first to ask.
    with ThreadPoolExecutor(1) as threads:
        threads.submit(lambda: asyncio.run(work())).result()


@pytest.fixture(scope="session")
def sqlite_templates(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("sign-in-sqlite")
    for name in PACKAGES:
        prepare(f"sqlite:///{directory / f'{name}.db'}", name, directory)
    return directory


@pytest.fixture(scope="session")
def postgres_templates(postgres: PostgresServer, tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("sign-in-postgres")
    for name in PACKAGES:
        postgres.add_template(f"sign_in_{name}", partial(prepare, service=name, directory=directory))
    return directory


@pytest_asyncio.fixture(scope="package", loop_scope="package")
async def sqlite_house(
    sqlite_templates: Path, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[House]:
    """One pair of servers for all tests here: each test brings people and browsers of its own."""
    async with on_sqlite(sqlite_templates, tmp_path_factory.mktemp("house")) as opened:
        yield opened


@pytest_asyncio.fixture(scope="package", loop_scope="package")
async def postgres_house(
    postgres_templates: Path,
    postgres: PostgresServer,
    valkey: KeyValueServer,
    tmp_path_factory: pytest.TempPathFactory,
) -> AsyncIterator[House]:
    directory = tmp_path_factory.mktemp("house")
    shutil.copytree(postgres_templates, directory, dirs_exist_ok=True)
    async with AsyncExitStack() as stack:
        control, auth = (
            stack.enter_context(postgres.database(f"sign_in_{name}")) for name in ("control", "auth")
        )
        # Only while it is opened: it lives beside tests that set nothing.
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("REDIS_URL", f"{valkey.url}/7")
            opened = await stack.enter_async_context(open_house(control, auth, directory))
        yield opened


@pytest.fixture
def house(sqlite_house: House) -> House:
    """Both servers on SQLite."""
    return sqlite_house


@pytest.fixture(params=["sqlite", "postgresql"])
def any_house(request: pytest.FixtureRequest) -> House:
    """Both servers on each of the databases."""
    name = "sqlite_house" if request.param == "sqlite" else "postgres_house"
    found: House = request.getfixturevalue(name)
    return found


@pytest_asyncio.fixture(loop_scope="package")
async def own_house(sqlite_templates: Path, tmp_path: Path) -> AsyncIterator[House]:
    """Servers that a test may break."""
    async with on_sqlite(sqlite_templates, tmp_path) as opened:
        yield opened


def on_sqlite(templates: Path, directory: Path) -> AbstractAsyncContextManager[House]:
    shutil.copytree(templates, directory, dirs_exist_ok=True)
    control, auth = (f"sqlite:///{directory / f'{name}.db'}" for name in PACKAGES)
    return open_house(control, auth, directory)
