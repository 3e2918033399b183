"""control_server with its workers in process, on any back end of its queues."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

import httpx2
from fastapi import FastAPI
from prometheus_client import CollectorRegistry

from control_server.agents.models import Agent
from control_server.alerts.dependencies import deliveries_of, watch_of
from control_server.alerts.repository import AlertRepository
from control_server.alerts.schemas import DeliveryRead
from control_server.alerts.service import Deliveries, IncidentWatch
from control_server.app import create_app
from control_server.jobs import tasks as job_tasks
from control_server.jobs.schemas import JobKind
from control_server.metrics import JobMetrics
from control_server.nodes.models import Node
from control_server.resources import ControlResources, open_resources
from control_server.settings import ControlSettings
from control_server.ways_in import ensure_admin_token
from control_server.worker import job_kinds
from shared.database import open_database
from shared.database.migrations import upgrade
from shared.kernel.loops import Loop
from tests.integration.control.enrolment.office import HandClock

QUICK = {
    "alerts": {
        "allow_loopback": True,
        "first_pause": 0.02,
        "longest_pause": 0.1,
        "seconds": 2,
        "attempts": 5,
    },
    "jobs": {"grace": 0.1, "first_pause": 0.02, "attempts": 3},
}


@dataclass
class Plant:
    """The service, its administrator, and its background work by hand."""

    resources: ControlResources
    app: FastAPI
    admin: httpx2.AsyncClient
    outside: httpx2.AsyncClient
    clock: HandClock
    watch: IncidentWatch
    deliveries: Deliveries

    @asynccontextmanager
    async def working(self, *more: JobKind) -> AsyncIterator[None]:
        """A worker runs while the body does."""
        worker = self.loops(*more)[0]
        task = asyncio.ensure_future(worker.run_once())
        try:
            yield
        finally:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

    def loops(self, *more: JobKind) -> list[Loop]:
        kinds = [*job_kinds(self.resources), *more]
        return job_tasks.loops(self.resources, kinds, JobMetrics.in_registry(CollectorRegistry()))

    async def add_channel(self, url: str) -> dict[str, Any]:
        answer = await self.admin.post("/api/v1/alerts/channels", json={"name": "pager", "url": url})
        assert answer.status_code == 201, answer.text
        created: dict[str, Any] = answer.json()
        return created

    async def add_node(self, node_id: str) -> None:
        """A node whose agent speaks now."""
        now = self.clock()
        async with self.resources.database.transaction() as session:
            session.add(Node(id=node_id, created_at=now, updated_at=now, allow_targets=[], deny_targets=[]))
            await session.flush()
            session.add(Agent(node_id=node_id, public_key=node_id, enrolled_at=now, capabilities={}))
        await self.speak(node_id)

    async def speak(self, node_id: str, *, anew: bool = True) -> None:
        async with self.resources.database.transaction() as session:
            agent = await session.get(Agent, node_id)
            assert agent is not None
            agent.last_seen_at = self.clock()
            if anew:
                agent.connected_at, agent.disconnected_at = self.clock(), None

    async def fall_silent(self, node_id: str) -> None:
        async with self.resources.database.transaction() as session:
            agent = await session.get(Agent, node_id)
            assert agent is not None
            agent.disconnected_at = self.clock()

    async def delivery(self, ident: str) -> DeliveryRead:
        found = {str(each.id): each for each in await self.all_deliveries()}
        return found[ident]

    async def all_deliveries(self) -> list[DeliveryRead]:
        answer = await self.admin.get("/api/v1/alerts/deliveries")
        return [DeliveryRead.model_validate(each) for each in answer.json()]

    async def test_channel(self, channel_id: str) -> str:
        answer = await self.admin.post(f"/api/v1/alerts/channels/{channel_id}/test")
        assert answer.status_code == 202, answer.text
        return str(UUID(answer.json()["delivery_id"]))

    async def pending(self) -> int:
        async with self.resources.database.reading() as session:
            far = self.clock() + timedelta(days=1)
            return len(await AlertRepository(session).list_pending(far, 100))


@asynccontextmanager
async def open_plant(
    url: str,
    directory: Path,
    durable_url: str | None = None,
    registry_url: str = "",
    **changes: Mapping[str, Any],
) -> AsyncIterator[Plant]:
    parts: dict[str, Any] = {name: {**QUICK[name], **changes.get(name, {})} for name in QUICK}
    durable = {"lease": 3, **({"url": durable_url} if durable_url else {})}
    settings = ControlSettings.model_validate(
        {
            "database": {"url": url},
            "state_directory": directory,
            "durable": durable,
            "registry_url": registry_url,
            **parts,
        }
    )
    database = open_database(settings.database)
    await upgrade(database, "control_server")
    await database.close()
    clock = HandClock()
    async with open_resources(settings, clock) as resources:
        await ensure_admin_token(resources)
        app = create_app(settings, resources)
        bearer = {"Authorization": f"Bearer {(directory / 'admin-token').read_text()}"}
        base = "http://localhost:8420"
        transport = httpx2.ASGITransport(app=app, raise_app_exceptions=False)
        async with (
            app.router.lifespan_context(app),
            httpx2.AsyncClient(transport=transport, base_url=base, headers=bearer) as admin,
            httpx2.AsyncClient(transport=transport, base_url=base) as outside,
        ):
            yield Plant(resources, app, admin, outside, clock, watch_of(resources), deliveries_of(resources))


async def becomes(true: Callable[[], Awaitable[bool]], seconds: float = 20) -> None:
    """Wait until it is so."""
    async with asyncio.timeout(seconds):
        while not await true():
            await asyncio.sleep(0.02)
