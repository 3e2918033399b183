from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from shared.testing.servers import PostgresServer
from tests.conformance.auth.people.house import House, Person, open_house


@pytest.fixture(params=["sqlite", "postgresql"])
def database_url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    if request.param == "sqlite":
        yield f"sqlite:///{tmp_path / 'auth.db'}"
        return
    postgres: PostgresServer = request.getfixturevalue("postgres")
    with postgres.database() as url:
        yield url


@pytest.fixture
async def house(database_url: str, tmp_path: Path) -> AsyncIterator[House]:
    async with open_house(database_url, tmp_path) as opened:
        yield opened


@pytest.fixture
async def ada(house: House) -> Person:
    """Signed in, with one passkey."""
    return await house.person("ada")
