"""auth_server on a loopback port, in a thread of its own, for browsers."""

import asyncio
import threading
from collections.abc import Coroutine, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import uvicorn

from auth_server.app import create_app
from auth_server.commands import make_invitation
from auth_server.resources import open_resources
from auth_server.settings import AuthSettings
from shared.kernel.principal import Role
from shared.testing.servers.ports import free_loopback_port
from tests.conformance.auth.people.house import migrate

R = TypeVar("R")


@dataclass
class Served:
    """Where it is reached, and how somebody is invited."""

    settings: AuthSettings

    @property
    def origin(self) -> str:
        return self.settings.web.public_url

    def invite(self, role: Role = Role.VIEWER) -> str:
        async def make() -> str:
            async with open_resources(self.settings) as resources:
                return await make_invitation(resources, role)

        return elsewhere(make())


def elsewhere(work: Coroutine[Any, Any, R]) -> R:
    """Run it to the end in another thread: a browser's driver has the loop of this one."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(asyncio.run, work).result()


@contextmanager
def serving(directory: Path, **wanted: Any) -> Iterator[Served]:
    port = free_loopback_port()
    settings = AuthSettings.model_validate(
        {
            "database": {"url": f"sqlite:///{directory / 'auth.db'}"},
            "state_directory": directory,
            "web": {"public_url": f"http://localhost:{port}", "port": port},
            **wanted,
        }
    )

    elsewhere(migrate(settings.database.url.get_secret_value()))
    config = uvicorn.Config(create_app(settings), host="127.0.0.1", port=port, log_level="error")
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run)
    thread.start()
    waited = threading.Event()
    while not server.started and thread.is_alive():
        waited.wait(0.05)
    yield Served(settings)
    server.should_exit = True
    thread.join()
