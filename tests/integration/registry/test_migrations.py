"""What an older version has stored is found by the newer one, before anything is synced again."""

from importlib import import_module

from alembic.migration import MigrationContext
from alembic.operations import Operations
from sqlalchemy import Connection, text

from registry_server.tables import Base
from shared.database import Database
from shared.database.migrations import schema_differences, upgrade
from tests.integration.registry.conftest import Registries
from tests.integration.registry.objects import FILES
from tests.integration.registry.upstream import Upstream

TEXTS = "SELECT object_id, title, body FROM object_texts ORDER BY object_id"


async def texts(database: Database) -> list[tuple[object, ...]]:
    async with database.reading() as session:
        return [tuple(row) for row in await session.execute(text(TEXTS))]


def back_to_0005(connection: Connection) -> None:
    newest = import_module("registry_server.migrations.versions.0006_one_text_and_fewer_index_entries")
    with Operations.context(MigrationContext.configure(connection)):
        newest.downgrade()
    connection.execute(text("UPDATE alembic_version SET version_num = '0005'"))


async def test_texts_take_the_keys_in_and_objects_with_an_error_get_one(
    registries: Registries, upstream: Upstream
) -> None:
    upstream.commit({**FILES, "data/route/10.0.0.0_99": b"route:              10.0.0.0/99\n"})
    registry = await registries.open(upstream)
    await registry.sync()
    database = registry.resources.database
    stored = await texts(database)
    async with database.writer.begin() as connection:
        await connection.run_sync(back_to_0005)
    before = await texts(database)
    assert len(before) < len(stored)
    assert not any("10.0.0.0/99" in str(row) for row in before)
    await upgrade(database, "registry_server")
    assert await texts(database) == stored
    assert await schema_differences(database, Base.metadata) == []
