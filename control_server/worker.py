"""Background work of control_server: in a process of its own, or in the one that serves."""

from __future__ import annotations

import asyncio
import contextlib
import signal
from collections.abc import Callable

from prometheus_client import CollectorRegistry, start_http_server

from control_server.alerts import tasks as alert_tasks
from control_server.desired_state import tasks as desired_state_tasks
from control_server.flaps import tasks as flap_tasks
from control_server.health import tasks as health_tasks
from control_server.jobs import tasks as job_tasks
from control_server.jobs.schemas import JobKind
from control_server.metrics import JobMetrics
from control_server.operators import tasks as operator_tasks
from control_server.resources import ControlResources, open_resources
from control_server.routing import tasks as routing_tasks
from control_server.settings import ControlSettings
from control_server.traffic import tasks as traffic_tasks
from shared.kernel.loops import Loop, running
from shared.web.metrics import CountedLoops


def job_kinds(resources: ControlResources) -> list[JobKind]:
    """Every kind of job that this version knows."""
    return [
        *alert_tasks.kinds(resources),
        *flap_tasks.kinds(resources),
        *health_tasks.kinds(resources),
        *job_tasks.kinds(resources),
        *traffic_tasks.kinds(resources),
        *routing_tasks.kinds(resources),
        *job_tasks.scheduled([*operator_tasks.loops(resources), *desired_state_tasks.loops(resources)]),
    ]


def work_loops(resources: ControlResources, metrics: JobMetrics) -> list[Loop]:
    """What a working process does."""
    return [
        *job_tasks.loops(resources, job_kinds(resources), metrics),
        *alert_tasks.loops(resources),
        *flap_tasks.loops(resources),
    ]


async def work(settings: ControlSettings) -> None:
    """Work until told to stop: jobs in hand are finished or given back, and no attempt is counted."""
    stopping = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stopping.set)
    registry = CollectorRegistry()
    metrics = JobMetrics.in_registry(registry)
    with contextlib.ExitStack() as stack:
        async with open_resources(settings) as resources:
            if settings.jobs.metrics_port is not None:
                stack.callback(_serve_metrics(settings, registry))
            async with running(work_loops(resources, metrics), CountedLoops(registry)):
                await stopping.wait()


def _serve_metrics(settings: ControlSettings, registry: CollectorRegistry) -> Callable[[], None]:
    server, thread = start_http_server(
        settings.jobs.metrics_port or 0, addr=settings.jobs.metrics_host, registry=registry
    )

    def close() -> None:
        server.shutdown()
        server.server_close()
        thread.join()

    return close
