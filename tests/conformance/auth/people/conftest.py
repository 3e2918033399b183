import asyncio
import shutil
import tempfile
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from shared.testing.servers import PostgresServer
from tests.conformance.auth.people.house import House, Person, migrate, open_house

#: Memory where there is some: nothing here is about what a disk keeps.
FAST = Path("/dev/shm")  # noqa: S108 - a directory of its own is made below it
TEMPLATE = "auth_people"


@pytest.fixture(scope="session")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A SQLite database with tables, to be copied."""
    path = tmp_path_factory.mktemp("auth") / "template.db"
    asyncio.run(migrate(f"sqlite:///{path}"))
    return path


@pytest.fixture(scope="session")
def migrated_postgres(postgres: PostgresServer) -> PostgresServer:
    postgres.add_template(TEMPLATE, lambda url: asyncio.run(migrate(url)))
    return postgres


@pytest.fixture(params=["sqlite", "postgresql"])
def database_url(request: pytest.FixtureRequest, template: Path) -> Iterator[str]:
    if request.param == "postgresql":
        postgres: PostgresServer = request.getfixturevalue("migrated_postgres")
        with postgres.database(TEMPLATE) as url:
            yield url
        return
    with tempfile.TemporaryDirectory(dir=FAST if FAST.is_dir() else None) as directory:
        yield f"sqlite:///{shutil.copy(template, directory)}"


@pytest.fixture
def kv_url() -> str:
    """Without the tier, unless a module asks for both."""
    return ""


@pytest.fixture
async def house(
    database_url: str, kv_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[House]:
    monkeypatch.setenv("ROUTELOOM_AUTH_KV__URL", kv_url)
    # What is counted here is counted on a machine that is busy with other tests, too.
    monkeypatch.setenv("ROUTELOOM_AUTH_KV__DEADLINE", "PT2S")
    async with open_house(database_url, tmp_path) as opened:
        yield opened


@pytest.fixture
async def ada(house: House) -> Person:
    """Signed in, with one passkey."""
    return await house.person("ada")
