"""Alembic, run by the service itself on the same engine that it serves from.

The whole upgrade is one transaction on both databases, so a process killed in the middle leaves the
schema as it was, and the next start does it again.

Alembic and Mako are imported where they are used: a start that finds the newest schema needs neither, and
they are a tenth of the time that it takes.
"""

from __future__ import annotations

import warnings
import zlib
from importlib import resources
from typing import TYPE_CHECKING, Any, ClassVar

from sqlalchemy import inspect, text

from shared.kernel.errors import AppError, Kind

if TYPE_CHECKING:
    from alembic.config import Config
    from sqlalchemy import Connection, MetaData

    from shared.database.engine import Database


class SchemaNewer(AppError):
    """The database was written by a newer version."""

    kind: ClassVar[Kind] = Kind.UNAVAILABLE
    code: ClassVar[str] = "schema_newer"


_REVISIONS = "alembic_version"
#: In the `info` of an index: the one database that has it.
ONLY_ON = "only_on"


def _config(package: str) -> Config:
    from alembic.config import Config  # noqa: PLC0415 - see above

    config = Config()
    config.set_main_option("script_location", str(resources.files(package).joinpath("migrations")))
    config.set_main_option("path_separator", "os")
    return config


async def upgrade(database: Database, package: str) -> None:
    """Bring the schema of the service `package` to the newest revision; nothing to do is no error."""
    if await current_revision(database) == _newest_file(package):
        return
    async with database.writer.begin() as connection:
        if database.dialect == "postgresql":
            lock = text("SELECT pg_advisory_xact_lock(:key)")
            await connection.execute(lock, {"key": zlib.crc32(f"routeloom:{package}".encode())})
        await connection.run_sync(_upgrade, package)


def _newest_file(package: str) -> str:
    """What the newest file of the chain is numbered; its revision has the same name."""
    names = [file.name for file in resources.files(package).joinpath("migrations", "versions").iterdir()]
    return max(name.partition("_")[0] for name in names if name.endswith(".py"))


def _upgrade(connection: Connection, package: str) -> None:
    from alembic import command  # noqa: PLC0415 - see above

    config = _config(package)
    config.attributes["connection"] = connection
    _check_known(connection, config, package)
    command.upgrade(config, "head")


def _check_known(connection: Connection, config: Config, package: str) -> None:
    from alembic.script import ScriptDirectory  # noqa: PLC0415 - see above
    from alembic.util import CommandError  # noqa: PLC0415 - see above

    stored = _stored_revision(connection)
    try:
        ScriptDirectory.from_config(config).get_revisions(stored or ())
    except CommandError:
        raise SchemaNewer(
            f"The database of {package} is at revision {stored}, which this version does not know; nothing"
            " was changed. Use the newer version that wrote it, or another database."
        ) from None


async def current_revision(database: Database) -> str | None:
    """The revision that the database is at."""
    async with database.writer.connect() as connection:
        return await connection.run_sync(_stored_revision)


def _stored_revision(connection: Connection) -> str | None:
    if not inspect(connection).has_table(_REVISIONS):
        return None
    return connection.execute(text(f"SELECT version_num FROM {_REVISIONS}")).scalar()  # noqa: S608 - our own name


def head_revision(package: str) -> str | None:
    """The newest revision that this version of the service knows."""
    from alembic.script import ScriptDirectory  # noqa: PLC0415 - see above

    return ScriptDirectory.from_config(_config(package)).get_current_head()


async def schema_differences(database: Database, metadata: MetaData) -> list[object]:
    """What the models say that the migrated schema does not, and the reverse; empty is right."""
    from alembic.autogenerate import compare_metadata  # noqa: PLC0415 - see above
    from alembic.migration import MigrationContext  # noqa: PLC0415 - see above

    def meant(item: Any, *_: Any) -> bool:
        return bool(item.info.get(ONLY_ON, database.dialect) == database.dialect)

    def compare(connection: Connection) -> list[object]:
        options = {"compare_type": False, "compare_server_default": False, "include_object": meant}
        with warnings.catch_warnings():
            # An index on an expression that only PostgreSQL has cannot be compared on SQLite, and need not.
            warnings.filterwarnings("ignore", "autogenerate skipping metadata-specified expression-based")
            return list(compare_metadata(MigrationContext.configure(connection, opts=options), metadata))

    async with database.writer.connect() as connection:
        return await connection.run_sync(compare)


def run_migrations(metadata: MetaData) -> None:
    """Body of a service's `migrations/env.py`."""
    from alembic import context  # noqa: PLC0415 - see above

    connection = context.config.attributes["connection"]
    context.configure(
        connection=connection,
        target_metadata=metadata,
        render_as_batch=True,
        transaction_per_migration=False,
        transactional_ddl=True,
    )
    context.run_migrations()
