import asyncio
import itertools
import shutil
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from shared.testing.servers import PostgresServer
from tests.integration.control.probes.stage import HandClock, Prepared, Stage, prepare, serving, settings_of

TEMPLATES = itertools.count()


@pytest.fixture
def clock() -> HandClock:
    return HandClock()


@pytest.fixture(scope="session")
def sqlite_template(tmp_path_factory: pytest.TempPathFactory) -> Prepared:
    return asyncio.run(prepare(f"sqlite:///{tmp_path_factory.mktemp('control') / 'control.db'}"))


@pytest.fixture(scope="session")
def postgres_template(postgres: PostgresServer) -> Prepared:
    # Another folder that uses this fixture gets a template of its own.
    name = f"control_probes_{next(TEMPLATES)}"
    postgres.add_template(name, lambda _: None)
    return asyncio.run(prepare(postgres.url_of(name)))


@pytest.fixture
def on_sqlite(sqlite_template: Prepared, tmp_path: Path) -> Prepared:
    """A fresh SQLite database with eight nodes and some people."""
    original = sqlite_template.url.removeprefix("sqlite:///")
    shutil.copy(original, tmp_path / "control.db")
    return Prepared(f"sqlite:///{tmp_path / 'control.db'}", sqlite_template.tokens)


@pytest.fixture
def on_postgres(
    postgres_template: Prepared, postgres: PostgresServer, state_beside_postgres: str
) -> Iterator[Prepared]:
    assert state_beside_postgres
    with postgres.database(urlsplit(postgres_template.url).path.removeprefix("/")) as url:
        yield Prepared(url, postgres_template.tokens)


@pytest.fixture(params=["on_sqlite", "on_postgres"], ids=["sqlite", "postgresql"])
def prepared(request: pytest.FixtureRequest) -> Prepared:
    found: Prepared = request.getfixturevalue(request.param)
    return found


@pytest.fixture
async def stage(on_sqlite: Prepared, tmp_path: Path, clock: HandClock) -> AsyncIterator[Stage]:
    """A server on SQLite."""
    async with serving(settings_of(on_sqlite, tmp_path), clock, on_sqlite) as running:
        yield running


@pytest.fixture
async def any_stage(prepared: Prepared, tmp_path: Path, clock: HandClock) -> AsyncIterator[Stage]:
    """A server on each of the databases."""
    async with serving(settings_of(prepared, tmp_path), clock, prepared) as running:
        yield running
