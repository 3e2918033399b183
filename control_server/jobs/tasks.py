"""Which jobs this service does for itself, and the loops of a process that works."""

from __future__ import annotations

import os
import socket
from collections.abc import Sequence
from datetime import timedelta

from control_server.durable import UPKEEP
from control_server.jobs.schemas import JobKind
from control_server.jobs.service import Janitor, RegistrySync, Retention, Worker
from control_server.metrics import JobMetrics
from control_server.resources import ControlResources
from shared.durable import QueuedJob
from shared.kernel.ids import short_id
from shared.kernel.loops import Loop

#: A runner never ends by itself.
_FOR_EVER = timedelta(days=36_500)
_HOURLY = timedelta(hours=1)


def kinds(resources: ControlResources) -> list[JobKind]:
    """Syncs and retention."""
    settings = resources.settings.jobs
    sync = RegistrySync.of(resources.settings, resources.http)
    keep = Retention(resources.database, resources.durable.storage, settings, resources.now)
    return [
        JobKind(
            "registry.sync",
            UPKEEP,
            sync.run,
            every=settings.registry_sync_every,
            time_limit=timedelta(seconds=settings.registry_seconds + 30),
            by_hand=True,
            by_force=True,
        ),
        JobKind("retention.probes", UPKEEP, keep.probes, every=_HOURLY, by_hand=True),
        JobKind("retention.tokens", UPKEEP, keep.tokens, every=_HOURLY, by_hand=True),
        JobKind("retention.durable", UPKEEP, keep.durable, every=_HOURLY),
    ]


def scheduled(loops: Sequence[Loop]) -> list[JobKind]:
    """Passes that only one process of the fleet has to make, as jobs."""
    return [_kind_of(loop) for loop in loops]


def _kind_of(loop: Loop) -> JobKind:
    async def run(_job: QueuedJob) -> None:
        await loop.run_once()

    return JobKind(loop.name, UPKEEP, run, every=loop.interval, time_limit=loop.time_limit)


def loops(resources: ControlResources, known: Sequence[JobKind], metrics: JobMetrics) -> list[Loop]:
    """Performing, the heartbeat and the janitor."""
    worker = Worker(
        worker_id=f"{socket.gethostname()[:60]}:{os.getpid()}:{short_id(6)}",
        database=resources.database,
        metrics=metrics,
        now=resources.now,
        started_at=resources.now(),
    )
    for name, queue in resources.durable.queues.items():
        worker.serve(name, queue, known, resources.settings.jobs)
    janitor = Janitor(resources.durable.queues, known, metrics)
    return [
        Loop(
            "jobs.work",
            worker.run,
            interval=timedelta(seconds=1),
            time_limit=_FOR_EVER,
            leaves_within=worker.leaves_within + timedelta(seconds=5),
        ),
        Loop("jobs.heartbeat", worker.beat, interval=timedelta(seconds=10)),
        Loop("jobs.janitor", janitor.sweep, interval=timedelta(seconds=10)),
        *watching(resources, metrics),
    ]


def watching(resources: ControlResources, metrics: JobMetrics) -> list[Loop]:
    """What a process does that does not work itself: it knows how the queues stand."""
    janitor = Janitor(resources.durable.queues, (), metrics)
    return [Loop("jobs.measure", janitor.measure, interval=timedelta(seconds=15))]
