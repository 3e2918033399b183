from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from shared.testing.servers import PostgresServer
from tests.integration.control.enrolment.office import Office, open_office


@pytest.fixture(params=["sqlite", "postgresql"])
def database_url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    if request.param == "sqlite":
        yield f"sqlite:///{tmp_path / 'control.db'}"
        return
    request.getfixturevalue("state_beside_postgres")
    postgres: PostgresServer = request.getfixturevalue("postgres")
    with postgres.database() as url:
        yield url


@pytest.fixture
async def office(database_url: str, tmp_path: Path) -> AsyncIterator[Office]:
    async with open_office(database_url, tmp_path) as opened:
        yield opened
