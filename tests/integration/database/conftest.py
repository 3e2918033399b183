from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from shared.database import Database, DatabaseSettings, open_database
from shared.testing.servers import PostgresServer


@pytest.fixture(params=["sqlite", "postgresql"])
def database_url(request: pytest.FixtureRequest, tmp_path: Path, postgres: PostgresServer) -> Iterator[str]:
    if request.param == "sqlite":
        yield f"sqlite:///{tmp_path / 'facts.db'}"
        return
    with postgres.database() as url:
        yield url


@pytest.fixture
async def database(database_url: str) -> AsyncIterator[Database]:
    opened = open_database(DatabaseSettings.model_validate({"url": database_url}))
    yield opened
    await opened.close()
