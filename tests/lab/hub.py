"""The middle of the lab: a bridge that every router is plugged into, and the control server behind it."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from control_server.api_tokens.repository import ApiTokenRepository
from control_server.api_tokens.service import ApiTokenService
from control_server.audit.dependencies import audit_service
from shared.database import DatabaseSettings, open_database
from shared.database.migrations import upgrade
from shared.kernel.clock import utc_now
from shared.kernel.principal import Principal, PrincipalKind, Role
from tests.integration.agent.apply.routers import eventually
from tests.journeys.namespaces import Namespace, namespace

ADDRESS = "198.18.0.254"
PORT = 8420
URL = f"http://{ADDRESS}:{PORT}"


@dataclass
class Hub:
    """The control server in its namespace, and a token that may do everything."""

    place: Namespace
    directory: Path
    token: str
    process: subprocess.Popen[bytes] | None = None
    environment: dict[str, str] = field(default_factory=dict)

    def start(self) -> None:
        """Serve, and return when it answers."""
        with (self.directory / "control.log").open("ab") as log:
            self.process = subprocess.Popen(
                [*self.place.prefix, sys.executable, "-m", "control_server", "serve"],
                env={**os.environ, **self.environment},
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        eventually(self._answers, "the control server answers", seconds=90)

    def stop(self, number: signal.Signals = signal.SIGTERM) -> None:
        """End it, in order or at once."""
        if self.process is not None:
            self.process.send_signal(number)
            self.process.wait(30)
            self.process = None

    def ask(self, method: str, path: str, body: Any = None, version: int | None = None) -> tuple[int, Any]:
        """Status and JSON of an answer."""
        program = [sys.executable, "-m", "tests.lab.asking", method, f"{URL}{path}", self.token]
        said = subprocess.run(
            [*self.place.prefix, *program, *([] if version is None else [str(version)])],
            input="" if body is None else json.dumps(body),
            capture_output=True,
            text=True,
            check=True,
        )
        answer = json.loads(said.stdout)
        return answer["status"], answer["body"]

    def want(self, method: str, path: str, body: Any = None, version: int | None = None) -> Any:
        """The JSON of an answer that must be good."""
        status, answer = self.ask(method, path, body, version)
        assert status < 300, answer
        return answer

    def _answers(self) -> bool:
        program = [sys.executable, "-m", "tests.lab.asking", "GET", f"{URL}/livez", self.token]
        said = subprocess.run(
            [*self.place.prefix, *program], input="", capture_output=True, text=True, check=False
        )
        return said.returncode == 0


@contextmanager
def open_hub(directory: Path) -> Iterator[Hub]:
    """A bridge, a migrated database, a token, a running server."""
    database = f"sqlite:///{directory / 'control.db'}"
    token = asyncio.run(_prepare(database))
    with namespace("hub") as place:
        place.run("ip", "link", "add", "dev", "hub", "type", "bridge")
        place.run("ip", "address", "add", f"{ADDRESS}/24", "dev", "hub")
        place.run("ip", "link", "set", "dev", "hub", "up")
        settings = {
            "DATABASE__URL": database,
            "STATE_DIRECTORY": str(directory),
            "WEB__HOST": ADDRESS,
            "WEB__PORT": str(PORT),
            "API_TOKENS__REQUESTS_PER_MINUTE": "1000000",
        }
        environment = {f"ROUTELOOM_CONTROL_{name}": value for name, value in settings.items()}
        hub = Hub(place, directory, token, environment=environment)
        hub.start()
        try:
            yield hub
        finally:
            hub.stop()


def plug_in(hub: Hub, place: Namespace, number: int) -> None:
    """A cable from a namespace to the bridge, with an address for tunnels and the agent."""
    end = f"lab{number}"
    subprocess.run(
        [
            *("ip", "link", "add", "dev", "uplink", "netns", place.name, "type", "veth"),
            *("peer", "name", end, "netns", hub.place.name),
        ],
        check=True,
    )
    hub.place.run("ip", "link", "set", "dev", end, "master", "hub", "up")
    place.run("ip", "address", "add", f"198.18.0.{number}/24", "dev", "uplink")
    place.run("ip", "link", "set", "dev", "uplink", "up")


async def _prepare(url: str) -> str:
    database = open_database(DatabaseSettings.model_validate({"url": url}))
    await upgrade(database, "control_server")
    admin = Principal.of_role("service:lab", PrincipalKind.SERVICE, "lab", Role.ADMIN)
    async with database.transaction() as session:
        tokens = ApiTokenService(ApiTokenRepository(session), utc_now)
        token = await tokens.replace(admin, "lab", audit_service(session, utc_now))
    await database.close()
    return token
