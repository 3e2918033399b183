"""A real control server on a real port, with agents that we script and readers that we hold."""

from __future__ import annotations

import asyncio
import contextlib
import json
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

import httpx2 as httpx
from fastapi import FastAPI

from control_server.agents.models import Agent, AgentToken
from control_server.api_tokens.models import ApiToken
from control_server.app import create_app
from control_server.nodes.models import Node
from control_server.probes.service import ProbeRuns, ProbeWatch
from control_server.resources import ControlResources, open_resources
from control_server.settings import ControlSettings
from shared.database import Database, DatabaseSettings, open_database
from shared.database.migrations import upgrade
from shared.kernel.principal import SCOPES_OF_ROLE, Role
from shared.kernel.secrets import mint
from shared.protocol.frames import ProbeStart
from shared.testing.fake_agent import FakeAgent
from shared.testing.waiting import wait_until
from shared.web.app import go_away
from shared.web.server import Server, server_config

NODES = ["alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta"]
#: Made once: reading the system's certificates for each client costs more than most tests.
PLAIN = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
TOOLS = {"ping": "iputils 20240905", "traceroute": "2.1.5"}


class HandClock:
    """Stands still until it is turned."""

    def __init__(self) -> None:
        self.at = datetime(2030, 1, 2, 3, 4, 5, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.at

    def turn(self, by: float) -> None:
        self.at += timedelta(seconds=by)


@dataclass(frozen=True)
class SeenEvent:
    name: str
    id: str
    data: dict[str, Any]


@dataclass
class Reader:
    """An open event stream."""

    response: httpx.Response
    retry: int | None = None
    _lines: AsyncIterator[str] | None = None

    async def next(self) -> SeenEvent | None:
        """The next event; None at the end of the stream."""
        if self._lines is None:
            self._lines = self.response.aiter_lines()
        fields: dict[str, str] = {}
        async with asyncio.timeout(30):
            async for line in self._lines:
                if line.startswith("retry:"):
                    self.retry = int(line[6:])
                elif line and not line.startswith(":"):
                    name, _, value = line.partition(": ")
                    assert name not in fields, "one data line an event"
                    fields[name] = value
                elif not line and "data" in fields:
                    return SeenEvent(fields["event"], fields.get("id", ""), json.loads(fields["data"]))
        return None

    async def outputs(self, count: int) -> list[SeenEvent]:
        """The next `count` lines."""
        found: list[SeenEvent] = []
        while len(found) < count:
            event = await self.next()
            assert event is not None, "the stream ended early"
            if event.name == "output":
                found.append(event)
        return found

    async def until(self, name: str) -> SeenEvent:
        """The next event of this name."""
        while True:
            event = await self.next()
            assert event is not None, "the stream ended early"
            if event.name == name:
                return event

    async def rest(self) -> list[SeenEvent]:
        """Everything until the stream ends."""
        found = []
        while (event := await self.next()) is not None:
            found.append(event)
        return found


@dataclass
class Stage:
    """The server with what tests need of it."""

    app: FastAPI
    resources: ControlResources
    server: Server
    clock: HandClock
    port: int
    client: httpx.AsyncClient
    tokens: dict[str, str]

    @property
    def url(self) -> str:
        return f"http://localhost:{self.port}"

    @property
    def runs(self) -> ProbeRuns:
        runs: ProbeRuns = self.app.state.probe_runs
        return runs

    @property
    def watch(self) -> ProbeWatch:
        watch: ProbeWatch = self.app.state.probe_watch
        return watch

    def authorization(self, who: str) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.tokens[who]}"}

    async def request(self, method: str, path: str, who: str = "operator", **more: Any) -> httpx.Response:
        return await self.client.request(method, path, headers=self.authorization(who), **more)

    async def create(self, *nodes: str, who: str = "operator", **wanted: Any) -> UUID:
        body = {"nodes": list(nodes), "tool": "ping", "target": "192.0.2.1"} | wanted
        answer = await self.request("POST", "/api/v1/probes", who, json=body)
        assert answer.status_code == 202, answer.text
        return UUID(answer.json()["id"])

    async def read(self, probe_id: UUID) -> dict[str, Any]:
        answer = await self.request("GET", f"/api/v1/probes/{probe_id}")
        assert answer.status_code == 200, answer.text
        read: dict[str, Any] = answer.json()
        return read

    async def finished(self, probe_id: UUID) -> dict[str, Any]:
        """The probe, once it has ended."""
        await wait_until(lambda: self._is_final(probe_id))
        return await self.read(probe_id)

    async def _is_final(self, probe_id: UUID) -> bool:
        return (await self.read(probe_id))["finished_at"] is not None

    @asynccontextmanager
    async def reader(
        self, probe_id: UUID, last_event_id: str | None = None, port: int | None = None
    ) -> AsyncIterator[Reader]:
        headers = self.authorization("operator") | ({"Last-Event-ID": last_event_id} if last_event_id else {})
        path = f"http://localhost:{port or self.port}/api/v1/probes/{probe_id}/stream"
        async with self.client.stream("GET", path, headers=headers) as response:
            assert response.status_code == 200, await response.aread()
            yield Reader(response)

    async def watched(self, probe_id: UUID, last_event_id: str | None = None) -> list[SeenEvent]:
        """Every event until the end."""
        async with self.reader(probe_id, last_event_id) as reader:
            return await reader.rest()

    @asynccontextmanager
    async def agent(self, node_id: str = "alpha", **hello: Any) -> AsyncIterator[FakeAgent]:
        """An agent that has greeted."""
        async with FakeAgent(self.url, self.tokens[node_id]) as agent:
            await agent.hello(**hello)
            yield agent

    async def started(self, agent: FakeAgent) -> UUID:
        """Wait until the agent is asked for a probe, and say that it runs."""
        start = await agent.expect(ProbeStart)
        await agent.accept(start.probe_id)

        async def runs() -> bool:
            return bool((await self.read(start.probe_id))["state"] != "accepted")

        await wait_until(runs)
        return start.probe_id


async def seed(database: Database, at: datetime, nodes: list[str]) -> dict[str, str]:
    """Nodes with agents and people with tokens; answers the tokens by node or role."""
    tokens = {}
    async with database.transaction() as session:
        for node in nodes:
            secret = mint("rlg")
            tokens[node] = secret.text
            session.add(Node(id=node, allow_targets=[], deny_targets=[], created_at=at, updated_at=at))
            await session.flush()
            session.add(
                Agent(
                    node_id=node,
                    public_key=f"key of {node}",
                    capabilities={"tools": TOOLS},
                    enrolled_at=at,
                    connected_at=None,
                    disconnected_at=None,
                    last_seen_at=None,
                )
            )
            session.add(
                AgentToken(id=secret.id, node_id=node, digest=secret.digest, created_at=at, revoked_at=None)
            )
        for name in ("viewer", "operator", "admin", "bystander"):
            role = Role.VIEWER if name == "bystander" else Role(name)
            secret = mint("rlp")
            tokens[name] = secret.text
            session.add(
                ApiToken(
                    id=secret.id,
                    name=name,
                    owner_id=f"person:{name}",
                    owner_kind="person",
                    owner_name=name,
                    role=role,
                    scopes=sorted(SCOPES_OF_ROLE[role]),
                    digest=secret.digest,
                    created_at=at,
                    expires_at=None,
                    revoked_at=None,
                    last_used_at=None,
                )
            )
    return tokens


@dataclass(frozen=True)
class Prepared:
    """A database that is ready to serve, and the tokens of whoever is in it."""

    url: str
    tokens: dict[str, str]


async def prepare(url: str) -> Prepared:
    """Migrate the database and fill it."""
    database = open_database(DatabaseSettings.model_validate({"url": url}))
    try:
        await upgrade(database, "control_server")
        return Prepared(url, await seed(database, HandClock()(), NODES))
    finally:
        if database.dialect == "sqlite":
            # What is copied is the one file, so nothing may be left in the log beside it.
            async with database.writer.connect() as connection:
                await connection.exec_driver_sql("ROLLBACK")
                await connection.exec_driver_sql("PRAGMA wal_checkpoint(TRUNCATE)")
        await database.close()


def settings_of(prepared: Prepared, directory: Path, **probes: Any) -> ControlSettings:
    return ControlSettings.model_validate(
        {
            "database": {"url": prepared.url},
            "state_directory": directory,
            "web": {"port": 0},
            "probes": probes,
            # Tests ask again and again until something is so.
            "api_tokens": {"requests_per_minute": 1_000_000},
        }
    )


@asynccontextmanager
async def serving(settings: ControlSettings, clock: HandClock, prepared: Prepared) -> AsyncIterator[Stage]:
    """The server, on a port of its own, until the block ends."""
    async with open_resources(settings, clock) as resources:
        app = create_app(settings, resources)
        server = Server(server_config(app, settings.web), farewell=lambda: go_away(app))
        running = asyncio.create_task(server.serve())
        try:
            await wait_until(lambda: server.started or running.done())
            if running.done():
                running.result()
            port = server.servers[0].sockets[0].getsockname()[1]
            limits = httpx.Limits(max_connections=None)
            async with httpx.AsyncClient(
                base_url=f"http://localhost:{port}", timeout=30, limits=limits, verify=PLAIN
            ) as client:
                yield Stage(app, resources, server, clock, port, client, prepared.tokens)
        finally:
            server.should_exit = True
            with contextlib.suppress(SystemExit):
                await running
