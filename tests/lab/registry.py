"""A registry server beside the hub: it follows a repository that a test commits to, and speaks to routers."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from registry_server.settings import RegistrySettings
from shared.database import open_database
from shared.database.migrations import upgrade
from tests.integration.agent.apply.routers import eventually
from tests.integration.registry.network import FILTERS, route
from tests.integration.registry.upstream import Upstream
from tests.lab.hub import Hub

_HTTP, _RTR = 8422, 8282


@dataclass(frozen=True)
class RunningRegistry:
    """What it mirrors, and where routers find it."""

    hub: Hub
    upstream: Upstream

    @property
    def servers(self) -> list[dict[str, Any]]:
        """As the fleet's policy names it."""
        return [{"name": "registry", "host": self.hub.wires.hub, "port": _RTR}]

    def allow(self, routes: Mapping[str, int]) -> None:
        """Commit objects that let these origins announce these prefixes."""
        self.upstream.commit(
            {f"data/{_kind(prefix)}/{_file(prefix)}": route(prefix, asn) for prefix, asn in routes.items()}
        )


@contextmanager
def open_registry(hub: Hub, directory: Path, routes: Mapping[str, int]) -> Iterator[RunningRegistry]:
    """Serve these, from a repository that is looked at every second."""
    upstream = Upstream.create(directory / "upstream.git")
    upstream.commit(FILTERS)
    found = RunningRegistry(hub, upstream)
    found.allow(routes)
    settings = {
        "DATABASE__URL": f"sqlite:///{directory / 'registry.db'}",
        "STATE_DIRECTORY": str(directory),
        "MIRROR__URL": str(upstream.directory),
        "MIRROR__INTERVAL": "PT1S",
        "WEB__HOST": hub.wires.hub,
        "WEB__PORT": str(_HTTP),
        "RTR__HOSTS": f'["{hub.wires.hub}"]',
        "RTR__PORT": str(_RTR),
        "RTR__NOTIFY_EVERY": "PT0S",
    }
    asyncio.run(_migrate(settings["DATABASE__URL"], directory))
    with (directory / "registry.log").open("ab") as log:
        process = subprocess.Popen(
            [*hub.place.prefix, sys.executable, "-m", "registry_server", "serve"],
            env={**os.environ, **{f"ROUTELOOM_REGISTRY_{name}": value for name, value in settings.items()}},
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
    try:
        yield found
    finally:
        process.terminate()
        process.wait(30)


def wait_for_rtr(hub: Hub) -> None:
    """Return when routers are answered."""
    command = ("ss", "-Hltn", f"sport = :{_RTR}")
    eventually(lambda: str(_RTR) in hub.place.run(*command), "the registry listens for routers", seconds=90)


async def _migrate(url: str, directory: Path) -> None:
    settings = RegistrySettings.model_validate({"database": {"url": url}, "state_directory": directory})
    database = open_database(settings.database)
    await upgrade(database, "registry_server")
    await database.close()


def _kind(prefix: str) -> str:
    return "route6" if ":" in prefix else "route"


def _file(prefix: str) -> str:
    return prefix.replace("/", "_")
