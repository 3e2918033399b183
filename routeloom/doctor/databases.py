"""PostgreSQL or SQLite of each service: reachable, its version, its schema, its clock."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from sqlalchemy import text
from sqlalchemy.exc import SQLAlchemyError

from routeloom.doctor.clocks import compared
from routeloom.doctor.findings import Finding, good, problem
from shared.database import Database, DatabaseUnavailable, open_database
from shared.database.migrations import current_revision, head_revision

if TYPE_CHECKING:
    from routeloom.doctor.deployment import Deployment

_OLDEST_POSTGRESQL = 14
_MAJOR = 10_000


async def look_at_databases(deployment: Deployment) -> list[Finding]:
    """Findings about the database of every service."""
    found: list[Finding] = []
    for name, settings in deployment.services.items():
        database = open_database(settings.database)
        try:
            found += await _look(name, database)
        except (DatabaseUnavailable, SQLAlchemyError, OSError, TimeoutError) as error:
            sentence = getattr(error, "detail", "") or str(error).partition("\n")[0] or type(error).__name__
            remedy = "docker compose -f docker-compose/compose.yaml up -d postgres"
            found.append(
                problem("reachability", f"The database of {name} does not answer: {sentence}", remedy)
            )
        finally:
            await database.close()
    return found


async def _look(name: str, database: Database) -> list[Finding]:
    package = f"{name}_server"
    at, wanted = await current_revision(database), head_revision(package)
    if at == wanted:
        found = [good("migrations", f"The database of {name} is at revision {at}, this version's.")]
    else:
        sentence = f"The database of {name} is at revision {at or 'none'}, this version needs {wanted}."
        found = [problem("migrations", sentence, f"routeloom {name} migrate")]
    if database.dialect == "postgresql":
        found += await _look_at_server(name, database)
    return found


async def _look_at_server(name: str, database: Database) -> list[Finding]:
    before = datetime.now(UTC)
    async with database.reading() as session:
        row = await session.execute(
            text("SELECT current_setting('server_version_num'), extract(epoch FROM clock_timestamp())")
        )
        number, epoch = row.one()
    after = datetime.now(UTC)
    major = int(number) // _MAJOR
    if major < _OLDEST_POSTGRESQL:
        sentence = f"The database of {name} is PostgreSQL {major}; {_OLDEST_POSTGRESQL} or newer is needed."
        version = problem("versions", sentence, "pg_upgrade to a newer PostgreSQL")
    else:
        version = good("versions", f"The database of {name} is PostgreSQL {major}.")
    told = datetime.fromtimestamp(float(epoch), UTC)
    return [version, compared(f"the database of {name}", told, before + (after - before) / 2, timedelta(0))]
