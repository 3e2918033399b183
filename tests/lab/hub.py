"""The middle of the lab: a bridge that every router is plugged into, and the control server behind it."""

from __future__ import annotations

import asyncio
import html
import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from control_server.api_tokens.repository import ApiTokenRepository
from control_server.api_tokens.service import ApiTokenService
from control_server.audit.dependencies import audit_service
from control_server.resources import open_resources
from control_server.settings import ControlSettings
from control_server.ways_in import make_session_link
from shared.database import open_database
from shared.database.migrations import upgrade
from shared.kernel.clock import utc_now
from shared.kernel.principal import Principal, PrincipalKind, Role
from tests.integration.agent.apply.routers import eventually
from tests.journeys.namespaces import Namespace, namespace

PORT = 8420


@dataclass(frozen=True)
class Wires:
    """Addresses of one family on the bridge: an IPv6-only lab has no IPv4 there at all."""

    family: int

    @property
    def hub(self) -> str:
        return self.of(254)

    @property
    def url(self) -> str:
        return f"http://{bracketed(self.hub)}:{PORT}"

    def of(self, number: int) -> str:
        return f"198.18.0.{number}" if self.family == 4 else f"fd98::{number}"

    def give(self, place: Namespace, number: int, interface: str) -> None:
        nodad = ["nodad"] if self.family == 6 else []
        length = 24 if self.family == 4 else 64
        place.run("ip", "address", "add", f"{self.of(number)}/{length}", "dev", interface, *nodad)


@dataclass
class Hub:
    """The control server in its namespace, a token that may do everything, and a signed-in browser."""

    place: Namespace
    directory: Path
    wires: Wires
    token: str
    link: str
    environment: dict[str, str] = field(default_factory=dict)
    process: subprocess.Popen[bytes] | None = None
    cookie: str = ""
    _asking: subprocess.Popen[str] | None = None

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
        eventually(lambda: self.request("GET", "/livez")["status"] == 200, "the server answers", seconds=90)

    def stop(self, number: signal.Signals = signal.SIGTERM) -> None:
        """End it, in order or at once."""
        if self.process is not None:
            self.process.send_signal(number)
            self.process.wait(30)
            self.process = None

    def close(self) -> None:
        """End everything."""
        self.stop()
        if self._asking is not None:
            self._asking.communicate()

    def ask(self, method: str, path: str, body: Any = None, version: int | None = None) -> tuple[int, Any]:
        """Status and JSON of an answer."""
        headers = {"Authorization": f"Bearer {self.token}", "Content-Type": "application/json"}
        if version is not None:
            headers["If-Match"] = f'"{version}"'
        found = self.request(method, path, headers, None if body is None else json.dumps(body))
        return found["status"], json.loads(found["text"]) if found["text"] else None

    def want(self, method: str, path: str, body: Any = None, version: int | None = None) -> Any:
        """The JSON of an answer that must be good."""
        status, answer = self.ask(method, path, body, version)
        assert status < 300, answer
        return answer

    def change_node(self, node: str, **change: Any) -> None:
        """Change the facts of a node as they are now."""
        version = self.want("GET", f"/api/v1/nodes/{node}/facts")["version"]
        self.want("PATCH", f"/api/v1/nodes/{node}", change, version=version)

    def change_peering(self, node: str, name: str, **change: Any) -> None:
        """Change a peering as it is now."""
        found = self.peering(node, name)
        self.want("PATCH", f"/api/v1/peerings/{found['id']}", change, version=found["version"])

    def peering(self, node: str, name: str) -> dict[str, Any]:
        """A peering by its name."""
        items = self.want("GET", f"/api/v1/peerings?node_id={node}")["items"]
        found: dict[str, Any] = next(item for item in items if item["name"] == name)
        return found

    def sign_in(self) -> None:
        """Follow the one-time link, as a browser does."""
        found = self.request("GET", self.link, {"Accept": "text/html"})
        cookies = [value.split(";")[0] for name, value in found["headers"] if name.lower() == "set-cookie"]
        self.cookie = "; ".join(cookies)

    def page(self, path: str) -> str:
        """A page of the portal as it reads, without its markup."""
        found = self.request("GET", path, {"Accept": "text/html", "Cookie": self.cookie})
        assert found["status"] == 200, found
        return re.sub(r"\s+", " ", html.unescape(re.sub(r"<[^>]*>", " ", found["text"])))

    def request(
        self, method: str, path: str, headers: Mapping[str, str] | None = None, body: str | None = None
    ) -> dict[str, Any]:
        """A whole answer: status, headers, text. The status is 0 where nothing answers."""
        if self._asking is None:
            self._asking = subprocess.Popen(
                [*self.place.prefix, sys.executable, "-m", "tests.lab.asking"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
                start_new_session=True,
            )
        assert self._asking.stdin is not None
        assert self._asking.stdout is not None
        url = f"{self.wires.url}{path}"
        wanted = {"method": method, "url": url, "headers": dict(headers or {}), "body": body}
        self._asking.stdin.write(json.dumps(wanted) + "\n")
        self._asking.stdin.flush()
        found: dict[str, Any] = json.loads(self._asking.stdout.readline())
        return found


@contextmanager
def open_hub(directory: Path, family: int = 4) -> Iterator[Hub]:
    """A bridge, a migrated database, a token, a running server."""
    wires = Wires(family)
    settings = {
        "DATABASE__URL": f"sqlite:///{directory / 'control.db'}",
        "STATE_DIRECTORY": str(directory),
        "WEB__HOST": wires.hub,
        "WEB__PORT": str(PORT),
        "API_TOKENS__REQUESTS_PER_MINUTE": "1000000",
    }
    token, link = asyncio.run(_prepare(settings["DATABASE__URL"], directory))
    with namespace(f"hub{family}") as place:
        place.run("ip", "link", "add", "dev", "hub", "type", "bridge")
        wires.give(place, 254, "hub")
        place.run("ip", "link", "set", "dev", "hub", "up")
        environment = {f"ROUTELOOM_CONTROL_{name}": value for name, value in settings.items()}
        hub = Hub(place, directory, wires, token, link, environment)
        try:
            hub.start()
            hub.sign_in()
            yield hub
        finally:
            hub.close()


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
    hub.wires.give(place, number, "uplink")
    place.run("ip", "link", "set", "dev", "uplink", "up")


def bracketed(host: str) -> str:
    """An address as it stands before a port."""
    return f"[{host}]" if ":" in host else host


async def _prepare(url: str, directory: Path) -> tuple[str, str]:
    """A token that may do everything, and the path of a one-time link that signs a browser in."""
    settings = ControlSettings.model_validate({"database": {"url": url}, "state_directory": directory})
    database = open_database(settings.database)
    await upgrade(database, "control_server")
    await database.close()
    admin = Principal.of_role("service:lab", PrincipalKind.SERVICE, "lab", Role.ADMIN)
    async with open_resources(settings, utc_now) as resources:
        async with resources.database.transaction() as session:
            tokens = ApiTokenService(ApiTokenRepository(session), utc_now)
            token = await tokens.replace(admin, "lab", audit_service(session, utc_now))
        link = await make_session_link(resources)
    return token, link[len(settings.web.public_url) :]
