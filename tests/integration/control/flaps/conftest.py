"""The same stage on each database, with and without the tier."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from control_server.keys import BGP_FLAPS, PREFIX_FLAPS
from shared.database import DatabaseSettings, open_database
from shared.database.migrations import upgrade
from shared.testing.servers import KeyValueServer, PostgresServer
from tests.integration.control.conftest import copied
from tests.integration.control.enrolment.office import Office, open_office
from tests.integration.control.flaps.stage import Stage, open_stage


@pytest.fixture(params=["sqlite", "postgresql"])
async def database_url(request: pytest.FixtureRequest, migrated: Path, tmp_path: Path) -> AsyncIterator[str]:
    if request.param == "sqlite":
        yield copied(migrated, tmp_path)
        return
    request.getfixturevalue("state_beside_postgres")
    postgres: PostgresServer = request.getfixturevalue("postgres")
    with postgres.database() as url:
        database = open_database(DatabaseSettings.model_validate({"url": url}))
        await upgrade(database, "control_server")
        await database.close()
        yield url


@pytest.fixture(params=["kv", "sql"])
def kv_url(request: pytest.FixtureRequest) -> str | None:
    """The hot state's tier, or none of it."""
    if request.param == "sql":
        return None
    server: KeyValueServer = request.getfixturevalue("valkey")
    return f"{server.url}/1"


@pytest.fixture
async def stage(database_url: str, kv_url: str | None, tmp_path: Path) -> AsyncIterator[Stage]:
    async with open_stage(database_url, tmp_path, kv_url) as opened:
        opened.router.node_id = "r1"
        yield opened
        await forget(opened)


@pytest.fixture
async def lite_stage(migrated: Path, tmp_path: Path) -> AsyncIterator[Stage]:
    """SQLite, and no tier."""
    async with open_stage(copied(migrated, tmp_path), tmp_path) as opened:
        yield opened


async def forget(stage: Stage) -> None:
    """Leave nothing on a server that other tests use."""
    if stage.resources.kv.configured:
        node = stage.router.node_id
        await stage.resources.kv.delete(BGP_FLAPS.key(node=node), PREFIX_FLAPS.key(node=node))


@pytest.fixture
async def lite_office(migrated: Path, tmp_path: Path) -> AsyncIterator[Office]:
    """A whole server as Lite has it."""
    async with open_office(copied(migrated, tmp_path), tmp_path) as opened:
        yield opened
