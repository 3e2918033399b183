"""Starting Lite: lock, listen, migrate, seed, serve, and bring up the local agent."""

from __future__ import annotations

import asyncio
import socket
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from auth_server.app import create_app as create_auth
from control_server.access import ControlAuthenticator
from control_server.app import create_app as create_control
from control_server.commands import ensure_admin_token, make_session_link
from control_server.resources import ControlResources
from control_server.resources import open_resources as open_control
from registry_server.app import create_app as create_registry
from registry_server.commands import seed as seed_registry
from routeloom.lite.configuration import LiteSettings, lite_settings
from routeloom.lite.dispatcher import Dispatcher
from routeloom.lite.home import Home, default_home
from routeloom.lite.local_agent import LocalAgent
from routeloom.lite.ports import listen_on_loopback
from shared.database import open_database
from shared.database.lock import InstanceLock
from shared.database.migrations import upgrade
from shared.kernel.files import write_private
from shared.web.commands import run
from shared.web.logs import LogFormat, configure_logs
from shared.web.server import Server, server_config

if TYPE_CHECKING:
    from shared.database import DatabaseSettings


def run_lite(*, port: int, home: Path | None, log_level: str) -> None:
    """Run until told to stop; a reason not to start is one sentence and a status that is not 0."""
    place = Home((home or default_home()).expanduser().absolute())
    run(_lite(place, port, log_level))


async def _lite(home: Home, port: int, log_level: str) -> None:
    configure_logs(level=log_level, form=LogFormat.CONSOLE)
    home.prepare()
    with InstanceLock(home.lock):
        listeners = listen_on_loopback(port)
        try:
            chosen: int = listeners[0].getsockname()[1]
            await _Lite(home, f"http://localhost:{chosen}", chosen, log_level).run(listeners)
        finally:
            for listener in listeners:
                listener.close()


@dataclass(frozen=True, slots=True)
class _Lite:
    home: Home
    url: str
    port: int
    log_level: str

    async def run(self, listeners: list[socket.socket]) -> None:
        settings = lite_settings(self.home, self.url, self.log_level)
        await _migrate(settings)
        write_private(self.home.address, f"{self.url}\n")
        async with open_control(settings.control) as resources:
            await ensure_admin_token(resources)
            await self._serve(await self._dispatcher(settings, resources), resources, listeners)

    async def _dispatcher(self, settings: LiteSettings, resources: ControlResources) -> Dispatcher:
        if not self.home.sample_registry.exists():
            await seed_registry(settings.registry)
        return Dispatcher(
            create_control(settings.control, resources),
            create_auth(settings.auth),
            create_registry(settings.registry, authenticate=ControlAuthenticator(resources)),
        )

    async def _serve(
        self, dispatcher: Dispatcher, resources: ControlResources, listeners: list[socket.socket]
    ) -> None:
        server = Server(server_config(dispatcher, resources.settings.web), dispatcher.go_away)
        greeting = asyncio.create_task(self._greet(server, resources))
        try:
            await server.serve(sockets=listeners)
        finally:
            greeting.cancel()
            await asyncio.gather(greeting, return_exceptions=True)

    async def _greet(self, server: Server, resources: ControlResources) -> None:
        await server.ready.wait()
        state = await LocalAgent(self.home, self.url).bring_up()
        link = await make_session_link(resources)
        typer.echo(welcome(self.url, link, self.port, state, self.home))


def welcome(url: str, link: str, port: int, agent: str, home: Home) -> str:
    """What a person needs to know once everything runs."""
    host = socket.gethostname()
    return f"""
  Routeloom Lite runs.

  Portal        {url}
  Sign in       {link}
                once, within ten minutes; a new one: routeloom control session-link
  From afar     ssh -L {port}:localhost:{port} {host}
  Agent         {agent}
  State         {home.root}
  API token     {home.admin_token}

  Try           routeloom probe ping --node demo 127.0.0.1
  Stop          Ctrl-C (the agent goes on and is adopted by the next start)
"""


async def _migrate(settings: LiteSettings) -> None:
    for package, database in (
        ("control_server", settings.control.database),
        ("auth_server", settings.auth.database),
        ("registry_server", settings.registry.database),
    ):
        await _upgrade(package, database)


async def _upgrade(package: str, settings: DatabaseSettings) -> None:
    database = open_database(settings)
    try:
        await upgrade(database, package)
    finally:
        await database.close()
