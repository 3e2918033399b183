"""The back ends over which one contract holds, each with a prefix of its own for every test."""

from __future__ import annotations

import shutil
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Protocol, cast
from uuid import uuid4

from sqlalchemy import create_engine, select, update
from sqlalchemy import event as event_api

from shared.database import DatabaseSettings, new_metadata, open_database
from shared.durable import (
    AsyncRedisClient,
    CheckpointStore,
    ContextRetentionPolicy,
    ContextStore,
    EventPublisher,
    LoopContext,
    LoopEvent,
    QueuePolicy,
    RedisCheckpointStore,
    RedisConfig,
    RedisContextStore,
    RedisEventPublisher,
    RedisQueueBackend,
    RedisRunRepository,
    Retention,
    RunRecord,
    RunRepository,
    RunState,
    SqlCheckpointStore,
    SqlConfig,
    SqlContextStore,
    SqlEventPublisher,
    SqlQueueBackend,
    SqlRunRepository,
    SqlStorage,
    durable_tables,
)
from shared.durable.client import ConnectionLimits, open_client, open_cluster_client

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from contextlib import AbstractAsyncContextManager
    from pathlib import Path

    from shared.database import Database

METADATA = new_metadata()
TABLES = durable_tables(METADATA)
START = datetime(2026, 1, 2, 3, 4, 5, 678000, tzinfo=UTC)


#: Test machines are busy; the deadlines themselves are tested elsewhere.
PATIENT = ConnectionLimits(connect_timeout=20, command_timeout=20)

AnyQueue = RedisQueueBackend | SqlQueueBackend


class Backend(Protocol):
    """Builds the five stores over one prefix, and looks behind them."""

    name: str
    prefix: str

    def queue(self, policy: QueuePolicy | None = None, *, lease_seconds: float = 60.0) -> AnyQueue: ...

    def checkpoints(self, retention: Retention | None = None) -> CheckpointStore: ...

    def runs(self, retention: Retention | None = None) -> RunRepository: ...

    def events(self, *, length: int = 10_000, retention: Retention | None = None) -> EventPublisher: ...

    def contexts(self, policy: ContextRetentionPolicy | None = None) -> ContextStore: ...

    async def stored_checkpoint(self, run_id: str) -> bytes: ...

    async def overwrite_checkpoint(self, run_id: str, stored: bytes) -> None: ...

    async def overwrite_job(self, job_id: str, stored: bytes) -> None: ...

    async def places(self) -> dict[str, list[str]]:
        """Of every job id that is found anywhere, all the places where it is found."""

    async def forget_everything(self) -> None: ...


@dataclass
class RedisBackend:
    name: str
    client: AsyncRedisClient
    prefix: str = field(default_factory=lambda: f"contract:{{{uuid4().hex}}}")

    @property
    def raw(self) -> Any:
        return cast("Any", self.client)

    def queue(self, policy: QueuePolicy | None = None, *, lease_seconds: float = 60.0) -> RedisQueueBackend:
        config = RedisConfig(prefix=self.prefix, lease_seconds=lease_seconds)
        return RedisQueueBackend(self.client, config, None, policy=policy)

    def checkpoints(self, retention: Retention | None = None) -> RedisCheckpointStore:
        return RedisCheckpointStore(self.client, RedisConfig(self.prefix), None, retention=retention)

    def runs(self, retention: Retention | None = None) -> RedisRunRepository:
        return RedisRunRepository(self.client, RedisConfig(self.prefix), None, retention=retention)

    def events(self, *, length: int = 10_000, retention: Retention | None = None) -> RedisEventPublisher:
        config = RedisConfig(self.prefix, event_max_length=length)
        return RedisEventPublisher(self.client, config, None, retention=retention)

    def contexts(self, policy: ContextRetentionPolicy | None = None) -> RedisContextStore:
        policy = policy or ContextRetentionPolicy(86_400, 604_800, 604_800)
        return RedisContextStore(self.client, policy, RedisConfig(self.prefix))

    async def stored_checkpoint(self, run_id: str) -> bytes:
        return cast("bytes", await self.raw.get(f"{self.prefix}:checkpoints:{run_id}"))

    async def overwrite_checkpoint(self, run_id: str, stored: bytes) -> None:
        await self.raw.set(f"{self.prefix}:checkpoints:{run_id}", stored)

    async def overwrite_job(self, job_id: str, stored: bytes) -> None:
        await self.raw.hset(f"{self.prefix}:queue:jobs", job_id, stored)

    async def places(self) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}
        queue = f"{self.prefix}:queue"
        moment = self.raw.pipeline(transaction=True)  # one instant: workers go on meanwhile
        moment.lrange(f"{queue}:pending", 0, -1)
        for name in ("delayed", "lease-expiry", "dead"):
            moment.zrange(f"{queue}:{name}", 0, -1)
        for name in ("jobs", "counters", "leases"):
            moment.hkeys(f"{queue}:{name}")
        answers = [[member.decode() for member in answer] for answer in await moment.execute()]
        for place, ids in zip(("pending", "delayed", "leased", "dead"), answers, strict=False):
            for job_id in ids:
                found.setdefault(job_id, []).append(place)
        jobs, counters, leases = map(set, answers[4:])
        assert jobs == counters == found.keys()
        assert leases == {job_id for job_id, where in found.items() if "leased" in where}
        return found

    async def forget_everything(self) -> None:
        keys = [key async for key in self.raw.scan_iter(match=f"{self.prefix}*".replace("{", "\\{"))]
        if keys:
            await self.raw.delete(*keys)


@dataclass
class SqlBackend:
    name: str
    database: Database
    prefix: str = field(default_factory=lambda: f"contract:{uuid4().hex}")

    @property
    def storage(self) -> SqlStorage:
        return SqlStorage(self.database, TABLES)

    def queue(self, policy: QueuePolicy | None = None, *, lease_seconds: float = 60.0) -> SqlQueueBackend:
        config = SqlConfig(prefix=self.prefix, lease_seconds=lease_seconds)
        return SqlQueueBackend(self.storage, config, None, policy=policy)

    def checkpoints(self, retention: Retention | None = None) -> SqlCheckpointStore:
        return SqlCheckpointStore(self.storage, SqlConfig(self.prefix), None, retention=retention)

    def runs(self, retention: Retention | None = None) -> SqlRunRepository:
        return SqlRunRepository(self.storage, SqlConfig(self.prefix), None, retention=retention)

    def events(self, *, length: int = 10_000, retention: Retention | None = None) -> SqlEventPublisher:
        config = SqlConfig(self.prefix, event_max_length=length)
        return SqlEventPublisher(self.storage, config, None, retention=retention)

    def contexts(self, policy: ContextRetentionPolicy | None = None) -> SqlContextStore:
        policy = policy or ContextRetentionPolicy(86_400, 604_800, 604_800)
        return SqlContextStore(self.storage, policy, SqlConfig(self.prefix))

    async def stored_checkpoint(self, run_id: str) -> bytes:
        table = TABLES.checkpoints
        query = select(table.c.body).where(table.c.prefix == self.prefix, table.c.run_id == run_id)
        async with self.database.reading() as session:
            return bytes((await session.scalars(query)).one())

    async def overwrite_checkpoint(self, run_id: str, stored: bytes) -> None:
        table = TABLES.checkpoints
        change = update(table).where(table.c.prefix == self.prefix, table.c.run_id == run_id)
        async with self.database.transaction() as session:
            await session.execute(change.values(body=stored))

    async def overwrite_job(self, job_id: str, stored: bytes) -> None:
        table = TABLES.jobs
        change = update(table).where(table.c.prefix == self.prefix, table.c.job_id == job_id)
        async with self.database.transaction() as session:
            await session.execute(change.values(body=stored))

    async def places(self) -> dict[str, list[str]]:
        jobs = TABLES.jobs
        query = select(jobs.c.job_id, jobs.c.place, jobs.c.lease_id).where(jobs.c.prefix == self.prefix)
        async with self.database.reading() as session:
            rows = (await session.execute(query)).all()
        assert all((place == "leased") == (lease_id is not None) for _, place, lease_id in rows)
        return {job_id: [place] for job_id, place, _ in rows}

    async def forget_everything(self) -> None:
        async with self.database.transaction() as session:
            for table in METADATA.sorted_tables:
                await session.execute(table.delete().where(table.c.prefix == self.prefix))


@asynccontextmanager
async def redis_backend(name: str, url: str) -> AsyncIterator[RedisBackend]:
    client = (open_cluster_client if name == "cluster" else open_client)(url, PATIENT)
    try:
        yield RedisBackend(name, client)
    finally:
        await client.aclose()


def _skip_the_disk(connection: Any, _record: Any) -> None:
    """A killed process loses nothing that the kernel has; only a crash of the machine would."""
    connection.execute("PRAGMA synchronous = OFF")


@asynccontextmanager
async def sql_backend(name: str, url: str) -> AsyncIterator[SqlBackend]:
    database = open_database(DatabaseSettings.model_validate({"url": url}))
    if database.dialect == "sqlite":
        event_api.listen(database.writer.sync_engine, "connect", _skip_the_disk)
    try:
        yield SqlBackend(name, database)
    finally:
        await database.close()


def open_backend(name: str, url: str) -> AbstractAsyncContextManager[Backend]:
    if name in {"postgres", "sqlite"}:
        return sql_backend(name, url)
    return redis_backend(name, url)


def create_sqlite_file(path: Path) -> None:
    engine = create_engine(f"sqlite:///{path}")
    METADATA.create_all(engine)
    engine.dispose()


def copy_sqlite_file(template: Path, directory: Path) -> str:
    copy = directory / "durable.db"
    shutil.copyfile(template, copy)
    return f"sqlite:///{copy}"


def context(run_id: str = "run-1", **fields: Any) -> LoopContext:
    filled: dict[str, Any] = {
        "plan": [{"wave": 1, "nodes": ["node-a", "node-b"]}, {"wave": 2, "nodes": []}],
        "cursor": {"wave": 1, "node": 0},
        "feedback": [{"who": "operator", "decision": "approve", "comment": "早上好 ✓"}],
        "awaiting": {"node-a": {"generation": 2**53 + 1, "ratio": 1.0, "empty": []}},
        "metadata": {},
    }
    return LoopContext(run_id, **(filled | fields))


def run_record(run_id: str = "run-1", **fields: Any) -> RunRecord:
    filled: dict[str, Any] = {
        "kind": "rollout",
        "state": RunState.QUEUED,
        "created_at": START,
        "updated_at": START,
    }
    return RunRecord(run_id, **(filled | fields))


def event(number: int, run_id: str = "run-1") -> LoopEvent:
    return LoopEvent(run_id, "step_finished", START, {"number": number})
