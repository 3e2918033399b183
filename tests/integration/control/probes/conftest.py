from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from shared.testing.servers import PostgresServer
from tests.integration.control.probes.stage import HandClock, Stage, prepare, serving, settings_of


@pytest.fixture
def clock() -> HandClock:
    return HandClock()


@pytest.fixture(params=["sqlite", "postgresql"])
def database_url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    if request.param == "sqlite":
        yield f"sqlite:///{tmp_path / 'control.db'}"
        return
    postgres: PostgresServer = request.getfixturevalue("postgres")
    with postgres.database() as url:
        yield url


@pytest.fixture
async def stage(tmp_path: Path, clock: HandClock) -> AsyncIterator[Stage]:
    """One server on SQLite with the nodes alpha, beta and gamma."""
    url = f"sqlite:///{tmp_path / 'control.db'}"
    tokens = await prepare(url, ["alpha", "beta", "gamma"], clock)
    async with serving(settings_of(url, tmp_path), clock, tokens) as running:
        yield running


@pytest.fixture
async def any_stage(database_url: str, tmp_path: Path, clock: HandClock) -> AsyncIterator[Stage]:
    """The same on each of the databases."""
    tokens = await prepare(database_url, ["alpha", "beta", "gamma"], clock)
    async with serving(settings_of(database_url, tmp_path), clock, tokens) as running:
        yield running
