import asyncio
import shutil
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from shared.testing.servers import PostgresServer
from tests.conformance.auth.provider.provider import Person, Provider, fill, open_provider

TEMPLATE = "provider"


@pytest.fixture(scope="session")
def filled_sqlite(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("provider-sqlite")
    asyncio.run(fill(f"sqlite:///{directory / 'auth.db'}", directory))
    return directory


@pytest.fixture(scope="session")
def filled_postgres(postgres: PostgresServer, tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("provider-postgres")
    postgres.add_template(TEMPLATE, lambda url: asyncio.run(fill(url, directory)))
    return directory


@pytest.fixture(params=["sqlite", "postgresql"])
def filled(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[tuple[str, Path]]:
    """A database with schema, keys and clients, and the directory of its secrets."""
    if request.param == "sqlite":
        template: Path = request.getfixturevalue("filled_sqlite")
        shutil.copyfile(template / "auth.db", tmp_path / "auth.db")
        yield f"sqlite:///{tmp_path / 'auth.db'}", template
        return
    template = request.getfixturevalue("filled_postgres")
    postgres: PostgresServer = request.getfixturevalue("postgres")
    with postgres.database(TEMPLATE) as url:
        yield url, template


@pytest.fixture
async def provider(filled: tuple[str, Path], tmp_path: Path) -> AsyncIterator[Provider]:
    url, template = filled
    async with open_provider(url, template, tmp_path / "state") as opened:
        yield opened


@pytest.fixture
async def ada(provider: Provider) -> Person:
    """An administrator who is signed in."""
    return await provider.person()
