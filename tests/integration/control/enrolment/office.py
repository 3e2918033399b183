"""control_server in process, an administrator, and machines that want to enrol."""

import base64
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx2
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from fastapi import FastAPI

from control_server.app import create_app
from control_server.resources import ControlResources, open_resources
from control_server.settings import ControlSettings
from control_server.ways_in import ensure_admin_token
from shared.database import open_database
from shared.database.migrations import upgrade
from shared.protocol.enrolment import signed_message


@dataclass
class HandClock:
    """Stands still until it is turned."""

    at: datetime = field(default_factory=lambda: datetime(2030, 1, 2, 3, 4, 5, tzinfo=UTC))

    def __call__(self) -> datetime:
        return self.at

    def turn(self, by: timedelta) -> None:
        self.at += by


@dataclass
class Machine:
    """A host with an identity key of its own."""

    hostname: str = "fra1.loom.example"
    key: Ed25519PrivateKey = field(default_factory=Ed25519PrivateKey.generate)

    @property
    def public_key(self) -> str:
        return base64.b64encode(self.key.public_key().public_bytes_raw()).decode()

    def sign(self, challenge: str, credential: str, node_id: str | None) -> str:
        message = signed_message(challenge, credential, node_id)
        return base64.b64encode(self.key.sign(message)).decode()


@dataclass
class Office:
    """The server and both kinds of its clients."""

    resources: ControlResources
    app: FastAPI
    admin: httpx2.AsyncClient
    outside: httpx2.AsyncClient
    clock: HandClock

    async def token(self, **wanted: Any) -> str:
        answer = await self.admin.post("/api/v1/enrolment-tokens", json=wanted)
        assert answer.status_code == 201, answer.text
        return str(answer.json()["token"])

    async def challenge(self) -> str:
        return str((await self.outside.post("/api/v1/agent/enrol/challenges")).json()["challenge"])

    async def enrol(self, machine: Machine, token: str | None = None, **changes: Any) -> httpx2.Response:
        """One whole attempt; `changes` replace what an honest agent would send."""
        challenge = changes.pop("challenge", None) or await self.challenge()
        node_id, registration = changes.get("node_id"), changes.get("registration_id")
        body = {
            "public_key": machine.public_key,
            "challenge": challenge,
            "signature": machine.sign(challenge, token or str(registration), node_id),
            "agent_version": "0.1.0",
            "hostname": machine.hostname,
            **({"token": token} if token else {}),
            **changes,
        }
        return await self.outside.post("/api/v1/agent/enrol", json=body)

    async def node(self, node_id: str) -> dict[str, Any]:
        found: dict[str, Any] = (await self.admin.get(f"/api/v1/nodes/{node_id}")).json()
        return found

    async def actions(self) -> list[str]:
        """What the audit trail says, oldest first."""
        page = (await self.admin.get("/api/v1/audit?limit=500")).json()
        return [event["action"] for event in reversed(page["items"])]


@asynccontextmanager
async def open_office(database_url: str, directory: Path) -> AsyncIterator[Office]:
    settings = ControlSettings.model_validate(
        {"database": {"url": database_url}, "state_directory": directory}
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
            yield Office(resources, app, admin, outside, clock)
