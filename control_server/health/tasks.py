"""What keeps facts of reports, what watches for changes, and how long they are kept."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from control_server.agents.service import AgentLink
from control_server.durable import UPKEEP
from control_server.health.dependencies import health_retention, recorder_of, watch_of
from control_server.health.repository import HealthRepository
from control_server.jobs.schemas import JobKind
from control_server.observations.service import ReportObserver, Said
from control_server.resources import ControlResources
from shared.kernel.loops import Loop


def observer(resources: ControlResources) -> ReportObserver:
    """Keeps of reports what their nodes are judged by."""
    recorder = recorder_of(resources)

    async def record(session: Any, said: Said) -> None:
        await recorder.record(HealthRepository(session), said)

    return record


def loops(resources: ControlResources, link: AgentLink) -> list[Loop]:
    """The watch, in every process that serves: it alone hears its agents at once."""
    return [Loop("health.watch", watch_of(resources, link).look, interval=timedelta(seconds=10))]


def kinds(resources: ControlResources) -> list[JobKind]:
    """Retention."""
    keep = health_retention(resources)
    return [JobKind("retention.health", UPKEEP, keep.changes, every=timedelta(hours=1), by_hand=True)]
