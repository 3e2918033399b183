"""Alembic, run by the service itself on the same engine that it serves from.

The whole upgrade is one transaction on both databases, so a process killed in the middle leaves the
schema as it was, and the next start does it again.
"""

from __future__ import annotations

import zlib
from importlib import resources
from typing import TYPE_CHECKING

from alembic import command, context
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import text

if TYPE_CHECKING:
    from sqlalchemy import Connection, MetaData

    from shared.database.engine import Database


def _config(package: str) -> Config:
    config = Config()
    config.set_main_option("script_location", str(resources.files(package).joinpath("migrations")))
    config.set_main_option("path_separator", "os")
    return config


async def upgrade(database: Database, package: str) -> None:
    """Bring the schema of the service `package` to the newest revision; nothing to do is no error."""
    async with database.writer.begin() as connection:
        if database.dialect == "postgresql":
            lock = text("SELECT pg_advisory_xact_lock(:key)")
            await connection.execute(lock, {"key": zlib.crc32(f"routeloom:{package}".encode())})
        await connection.run_sync(_upgrade, package)


def _upgrade(connection: Connection, package: str) -> None:
    config = _config(package)
    config.attributes["connection"] = connection
    command.upgrade(config, "head")


async def current_revision(database: Database) -> str | None:
    """The revision that the database is at."""
    async with database.writer.connect() as connection:
        return await connection.run_sync(lambda sync: MigrationContext.configure(sync).get_current_revision())


def head_revision(package: str) -> str | None:
    """The newest revision that this version of the service knows."""
    return ScriptDirectory.from_config(_config(package)).get_current_head()


async def schema_differences(database: Database, metadata: MetaData) -> list[object]:
    """What the models say that the migrated schema does not, and the reverse; empty is right."""

    def compare(connection: Connection) -> list[object]:
        options = {"compare_type": False, "compare_server_default": False}
        return list(compare_metadata(MigrationContext.configure(connection, opts=options), metadata))

    async with database.writer.connect() as connection:
        return await connection.run_sync(compare)


def run_migrations(metadata: MetaData) -> None:
    """Body of a service's `migrations/env.py`."""
    connection = context.config.attributes["connection"]
    context.configure(
        connection=connection,
        target_metadata=metadata,
        render_as_batch=True,
        transaction_per_migration=False,
        transactional_ddl=True,
    )
    context.run_migrations()
