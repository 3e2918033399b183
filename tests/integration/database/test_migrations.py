"""Schemas: killed in the middle, run twice at once, and equal to the models."""

import asyncio
import os
import signal
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest
from sqlalchemy import text

from shared.database import Database
from shared.database.migrations import (
    SchemaNewer,
    current_revision,
    head_revision,
    schema_differences,
    upgrade,
)
from shared.testing.waiting import wait_until

SLOW = "tests.integration.database.slow_service"
UPGRADE = """
import asyncio, sys
from shared.database import DatabaseSettings, open_database
from shared.database.migrations import upgrade
asyncio.run(upgrade(open_database(DatabaseSettings.model_validate({"url": sys.argv[1]})), sys.argv[2]))
"""


async def tables_named(database: Database, names: set[str]) -> set[str]:
    catalogue = {
        "sqlite": "SELECT name FROM sqlite_master WHERE type = 'table'",
        "postgresql": "SELECT tablename FROM pg_tables",
    }[database.dialect]
    async with database.reading() as session:
        return set((await session.scalars(text(catalogue))).all()) & names


async def test_a_process_killed_in_a_migration_leaves_the_schema_whole(
    database: Database, database_url: str, tmp_path: Path
) -> None:
    stop = tmp_path / "stop"
    stop.touch()
    process = subprocess.Popen(
        [sys.executable, "-c", UPGRADE, database_url, SLOW], env={**os.environ, "STOP_FILE": str(stop)}
    )
    await wait_until(stop.with_suffix(".reached").exists)
    process.send_signal(signal.SIGKILL)
    process.wait()
    stop.unlink()
    wanted = {"first", "second_half_one", "second_half_two"}
    await upgrade(database, SLOW)
    assert await current_revision(database) == "second"
    assert await tables_named(database, wanted) == wanted


async def test_a_database_of_a_newer_version_is_left_alone_with_a_sentence(database: Database) -> None:
    await upgrade(database, SLOW)
    async with database.transaction() as session:
        await session.execute(text("UPDATE alembic_version SET version_num = 'third'"))
    with pytest.raises(SchemaNewer, match="revision third"):
        await upgrade(database, SLOW)
    assert await current_revision(database) == "third"


async def test_two_processes_may_migrate_at_once(database_url: str, database: Database) -> None:
    both = [
        await asyncio.create_subprocess_exec(sys.executable, "-c", UPGRADE, database_url, SLOW)
        for _ in range(2)
    ]
    assert [await process.wait() for process in both] == [0, 0]
    assert await current_revision(database) == "second"


@pytest.mark.parametrize("service", ["control_server", "auth_server", "registry_server"])
async def test_the_migrated_schema_is_that_of_the_models(service: str, database: Database) -> None:
    await upgrade(database, service)
    assert await current_revision(database) == head_revision(service)
    metadata = import_module(f"{service}.tables").Base.metadata
    assert await schema_differences(database, metadata) == []


@pytest.mark.parametrize("service", ["control_server", "auth_server", "registry_server"])
async def test_migrating_twice_changes_nothing(service: str, database: Database) -> None:
    await upgrade(database, service)
    await upgrade(database, service)
    assert await current_revision(database) == head_revision(service)


@pytest.mark.parametrize("statement", ["UPDATE audit_events SET action = 'x'", "DELETE FROM audit_events"])
async def test_the_database_itself_keeps_the_audit_trail(statement: str, database: Database) -> None:
    await upgrade(database, "control_server")
    insert = (
        "INSERT INTO audit_events (id, at, actor_kind, actor_id, actor_name, action, object_type, object_id,"
        " from_address, request_id) VALUES (1, '2026-03-01 12:00:00',"
        " 'person', 'a', 'a', 'node.created', 'node', 'n', '', '')"
    )
    async with database.transaction() as session:
        await session.execute(text(insert))
    with pytest.raises(Exception, match="append-only"):
        async with database.transaction() as session:
            await session.execute(text(statement))
