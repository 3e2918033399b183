"""The queues of background jobs: on `valkey-state` where that is configured, else in this service's database.

The queues are a working copy. What must not be lost is a row of a feature, from which jobs are made anew.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Literal
from urllib.parse import urlencode

import structlog
from sqlalchemy.ext.asyncio import AsyncSession

from control_server.settings import ControlSettings, DurableSettings
from control_server.tables import Base
from shared.database import Database, after_commit
from shared.durable import (
    Backoff,
    Doorbell,
    DurableTables,
    LocalDoorbell,
    QueueBackend,
    QueuedJob,
    QueuePolicy,
    RedisConfig,
    RedisQueueBackend,
    SqlConfig,
    SqlQueueBackend,
    SqlStorage,
    durable_tables,
)

log = structlog.get_logger(__name__)

TABLES: DurableTables = durable_tables(Base.metadata)

#: Deliveries of notifications: many attempts, over hours.
NOTIFICATIONS = "notifications"
#: Syncs, retention and whatever else runs on a schedule.
UPKEEP = "upkeep"
QUEUES = (NOTIFICATIONS, UPKEEP)


@dataclass(frozen=True, slots=True)
class DurableKey:
    """One row of the key reference: a key of the durable loops, whose structures have no TTL."""

    pattern: str
    kind: str
    cap: str
    purpose: str
    loss: str


_REMADE = "leases are lost; waiting jobs are made anew from SQL"
KEYS = (
    DurableKey("<prefix>:<queue>:queue:pending", "list", "`max_jobs`", "jobs that are due", _REMADE),
    DurableKey(
        "<prefix>:<queue>:queue:delayed", "sorted set", "`max_jobs`", "jobs that wait for a time", _REMADE
    ),
    DurableKey(
        "<prefix>:<queue>:queue:jobs",
        "hash",
        "`max_jobs`, about 300 bytes each",
        "the jobs themselves",
        _REMADE,
    ),
    DurableKey("<prefix>:<queue>:queue:leases", "hash", "jobs in work", "who holds a job", _REMADE),
    DurableKey("<prefix>:<queue>:queue:lease-expiry", "sorted set", "jobs in work", "until when", _REMADE),
    DurableKey(
        "<prefix>:<queue>:queue:dead",
        "sorted set",
        "`max_jobs`",
        "jobs that used up their attempts",
        "the list of the dead is empty; what they were about stays in SQL",
    ),
    DurableKey(
        "<prefix>:<queue>:queue:counters",
        "hash",
        "`max_jobs`",
        "attempts and deliveries of a job",
        "attempts are counted anew",
    ),
    DurableKey(
        "<prefix>:<queue>:queue:errors",
        "hash",
        "`max_jobs`, 1000 characters each",
        "the last error of a job",
        "the error is not shown",
    ),
    DurableKey(
        "<prefix>:<queue>:queue:doorbell", "list", "64", "wakes idle workers", "a job waits for the next poll"
    ),
    DurableKey(
        "<prefix>:<queue>:queue:dedupe:<key>",
        "string, with a TTL",
        "one for each schedule",
        "that a schedule had its turn",
        "a schedule has its turn once more; every scheduled job may run twice",
    ),
)


@dataclass(frozen=True, slots=True)
class Durable:
    """The queues of this process."""

    kind: Literal["server", "sql"]
    queues: Mapping[str, QueueBackend]
    #: The tables that back them; None on a server.
    storage: SqlStorage | None
    attempts: Mapping[str, int]
    #: Rung for what is enqueued inside a transaction: the queue itself cannot know when that commits.
    bells: Mapping[str, LocalDoorbell] = field(default_factory=dict)

    async def enqueue_within(self, session: AsyncSession, queue: str, job: QueuedJob) -> None:
        """Enqueue together with the facts that the session writes.

        On SQL that is one transaction. A server is asked after the commit: where that fails, the facts
        stand, and whoever wrote them enqueues again (the job's id makes that harmless).
        """
        backend = self.queues[queue]
        if isinstance(backend, SqlQueueBackend):
            await backend.enqueue_within(session, job)
            self._ring_after(session, queue)
            return

        async def enqueue() -> None:
            try:
                await backend.enqueue(job)
            except Exception as error:  # noqa: BLE001 - any client's; the facts are stored
                log.warning("job.enqueue_failed", queue=queue, kind=job.kind, error=type(error).__name__)

        after_commit(session, enqueue)

    def _ring_after(self, session: AsyncSession, queue: str) -> None:
        bell = self.bells.get(queue)
        if bell is None:
            return

        async def ring() -> None:
            bell.ring()

        after_commit(session, ring)


def _policies(settings: ControlSettings) -> dict[str, QueuePolicy]:
    alerts, jobs, most = settings.alerts, settings.jobs, settings.durable.max_jobs
    calls = Backoff(first=alerts.first_pause, ceiling=alerts.longest_pause)
    chores = Backoff(first=jobs.first_pause, ceiling=alerts.longest_pause)
    return {
        NOTIFICATIONS: QueuePolicy(max_attempts=alerts.attempts, backoff=calls, max_jobs=most),
        UPKEEP: QueuePolicy(max_attempts=jobs.attempts, backoff=chores, max_jobs=most),
    }


@asynccontextmanager
async def open_durable(settings: ControlSettings, database: Database) -> AsyncIterator[Durable]:
    """Open the queues. Raises PrefixRefusedError for keys that a cluster would scatter."""
    policies = _policies(settings)
    attempts = {name: policy.max_attempts for name, policy in policies.items()}
    if settings.durable.url is None:
        storage = SqlStorage(database, TABLES)
        # A ring reaches only the waiters of its own process; without one the workers poll.
        bells = {name: LocalDoorbell() for name in policies} if settings.jobs.in_process else {}
        yield Durable("sql", _on_sql(settings, storage, policies, bells), storage, attempts, bells)
        return
    async with _on_server(settings, policies) as queues:
        yield Durable("server", queues, None, attempts)


def _on_sql(
    settings: ControlSettings,
    storage: SqlStorage,
    policies: Mapping[str, QueuePolicy],
    bells: Mapping[str, LocalDoorbell],
) -> dict[str, QueueBackend]:
    lease = settings.durable.lease.total_seconds()
    return {
        name: SqlQueueBackend(
            storage,
            SqlConfig(prefix=f"{settings.durable.prefix}:{name}", lease_seconds=lease),
            policy=_with_bell(policy, bells.get(name)),
        )
        for name, policy in policies.items()
    }


@asynccontextmanager
async def _on_server(
    settings: ControlSettings, policies: Mapping[str, QueuePolicy]
) -> AsyncIterator[dict[str, QueueBackend]]:
    # Only who has a server for the queues needs its client, whose import takes long.
    from shared.durable.client import (  # noqa: PLC0415
        RedisDoorbell,
        check_slots,
        open_client,
        open_cluster_client,
    )

    durable = settings.durable
    url, lease = server_url(durable), durable.lease.total_seconds()
    client = open_cluster_client(url) if durable.cluster else open_client(url)
    bells: list[RedisDoorbell] = []
    queues: dict[str, QueueBackend] = {}
    try:
        await check_slots(client, RedisConfig(prefix=durable.prefix))
        for name, policy in policies.items():
            config = RedisConfig(prefix=f"{durable.prefix}:{name}", lease_seconds=lease)
            if not durable.cluster:  # a blocking call would have to follow the slot
                bells.append(RedisDoorbell(url, config, waiters=settings.jobs.concurrency))
            bell = bells[-1] if bells else None
            queues[name] = RedisQueueBackend(client, config, policy=_with_bell(policy, bell))
        yield queues
    finally:
        for each in bells:
            await each.aclose()
        await client.aclose()


def _with_bell(policy: QueuePolicy, bell: Doorbell | None) -> QueuePolicy:
    return QueuePolicy(
        max_attempts=policy.max_attempts, backoff=policy.backoff, max_jobs=policy.max_jobs, doorbell=bell
    )


def server_url(settings: DurableSettings) -> str:
    """The URL with the files of TLS, as the client takes them."""
    url = settings.url.get_secret_value() if settings.url else ""
    files = {
        "ssl_ca_certs": settings.tls_ca,
        "ssl_certfile": settings.tls_certificate,
        "ssl_keyfile": settings.tls_key,
    }
    given = {name: str(path) for name, path in files.items() if path is not None}
    return f"{url}{'&' if '?' in url else '?'}{urlencode(given)}" if given else url
