"""Starting Lite: lock, listen, migrate, seed, serve, and bring up the local agent."""

from __future__ import annotations

import asyncio
import gc
import os
import shlex
import shutil
import socket
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import typer
from pydantic import ValidationError

from auth_server.app import create_app as create_auth
from auth_server.commands import has_administrator, make_invitation
from auth_server.commands import seed as seed_auth
from auth_server.resources import AuthResources
from auth_server.resources import open_resources as open_auth
from control_server.access import ControlAuthenticator
from control_server.app import create_app as create_control
from control_server.commands import ensure_admin_token, make_session_link
from control_server.resources import ControlResources
from control_server.resources import open_resources as open_control
from registry_server.app import create_app as create_registry
from registry_server.commands import seed as seed_registry
from routeloom.lite.configuration import Addresses, LiteSettings, lite_settings
from routeloom.lite.dispatcher import Dispatcher
from routeloom.lite.errors import PublicUrlRefused
from routeloom.lite.home import Home, default_home
from routeloom.lite.local_agent import LocalAgent
from routeloom.lite.ports import listen_on_loopback
from shared.database import open_database
from shared.database.lock import InstanceLock
from shared.database.migrations import upgrade
from shared.kernel.files import write_private
from shared.kernel.principal import Role
from shared.web.commands import run
from shared.web.logs import LogFormat, configure_logs
from shared.web.server import Server, server_config

if TYPE_CHECKING:
    from fastapi import FastAPI

    from shared.database import DatabaseSettings


def run_lite(*, port: int, home: Path | None, log_level: str, public_url: str = "") -> None:
    """Run until told to stop; a reason not to start is one sentence and a status that is not 0."""
    place = Home((home or default_home()).expanduser().absolute())
    run(_lite(place, port, log_level, public_url))


async def _lite(home: Home, port: int, log_level: str, public_url: str) -> None:
    configure_logs(level=log_level, form=LogFormat.CONSOLE)
    home.prepare()
    with InstanceLock(home.lock):
        listeners = listen_on_loopback(port)
        try:
            chosen: int = listeners[0].getsockname()[1]
            local = f"http://localhost:{chosen}"
            await _Lite(home, Addresses(public_url or local, local), chosen, log_level).run(listeners)
        finally:
            for listener in listeners:
                listener.close()


@dataclass(frozen=True, slots=True)
class _Opened:
    control: ControlResources
    auth: AuthResources


@dataclass(frozen=True, slots=True)
class _Lite:
    home: Home
    addresses: Addresses
    port: int
    log_level: str

    async def run(self, listeners: list[socket.socket]) -> None:
        settings = self._settings()
        await _migrate(settings)
        write_private(self.home.address, f"{settings.control.web.public_url}\n")
        await seed_auth(settings.auth)
        async with open_control(settings.control) as control, open_auth(settings.auth) as auth:
            await ensure_admin_token(control)
            resources = _Opened(control, auth)
            await self._serve(await self._dispatcher(settings, resources), resources, listeners)

    def _settings(self) -> LiteSettings:
        try:
            return lite_settings(self.home, self.addresses, self.log_level)
        except ValidationError as error:
            reason = str(error.errors(include_url=False)[0]["msg"]).removeprefix("Value error, ")
            raise PublicUrlRefused(f"{self.addresses.public} {reason}.") from None

    async def _dispatcher(self, settings: LiteSettings, resources: _Opened) -> Dispatcher:
        if not self.home.sample_registry.exists():
            await seed_registry(settings.registry)
        return Dispatcher(
            create_control(settings.control, resources.control),
            create_auth(settings.auth, resources.auth),
            create_registry(settings.registry, authenticate=ControlAuthenticator(resources.control)),
        )

    async def _serve(
        self, dispatcher: Dispatcher, resources: _Opened, listeners: list[socket.socket]
    ) -> None:
        server = Server(server_config(dispatcher, resources.control.settings.web), dispatcher.go_away)
        greeting = asyncio.create_task(self._greet(server, resources, dispatcher.registry))
        try:
            await server.serve(sockets=listeners)
        finally:
            greeting.cancel()
            await asyncio.gather(greeting, return_exceptions=True)

    async def _greet(self, server: Server, resources: _Opened, registry: FastAPI) -> None:
        await server.ready.wait()
        gc.freeze()
        gc.enable()
        state = await LocalAgent(self.home, self.addresses.local).bring_up()
        link = await make_session_link(resources.control)
        invited = await has_administrator(resources.auth)
        invitation = "" if invited else await make_invitation(resources.auth, Role.ADMIN)
        ways_in = WaysIn(self.addresses, self.port, link, invitation, command_for(self.home))
        typer.echo(welcome(ways_in, state, self.home, protocol_ports(registry)))


@dataclass(frozen=True, slots=True)
class WaysIn:
    """How a person gets in; the invitation is empty once there is an administrator."""

    addresses: Addresses
    port: int
    link: str = field(repr=False)
    invitation: str = field(repr=False)
    #: How `routeloom` is called for this state directory, ready to paste.
    command: str

    def __str__(self) -> str:
        """The lines that say so."""
        lines = [f"  Portal        {self.addresses.public}"]
        if self.invitation:
            lines += [
                f"  Invitation    {self.invitation}",
                "                makes the first administrator, with a passkey; once, within a day",
            ]
        lines += [
            f"  Sign in       {self.link}",
            f"                once, within ten minutes; a new one: {self.command} control session-link",
        ]
        if not self.addresses.behind_proxy:
            lines.append(f"  From afar     ssh -L {self.port}:localhost:{self.port} {socket.gethostname()}")
        return "\n".join(lines)


def command_for(home: Home) -> str:
    """`routeloom` as it can be typed here: by its path unless it is on PATH, with the home it needs."""
    program = Path(sys.argv[0])
    found = shutil.which("routeloom")
    called = "routeloom"
    if program.name != "routeloom":
        called = f"{sys.executable} -m routeloom"
    elif found is None or Path(found).resolve() != program.resolve():
        called = os.path.relpath(program) if program.is_relative_to(Path.cwd()) else str(program)
    usual = home.root == default_home() and "ROUTELOOM_HOME" not in os.environ
    return called if usual else f"ROUTELOOM_HOME={shlex.quote(str(home.root))} {called}"


def protocol_ports(registry: FastAPI) -> str:
    """Where whois clients and routers find the registry; a port that another program holds is not served."""
    told = []
    for name, port in registry.state.ports.items():
        if port.settings.port is not None:
            served = (
                f"on port {port.port}" if port.port else f"not served, port {port.settings.port} is in use"
            )
            told.append(f"{name} {served}")
    return "; ".join(told) or "whois and RTR are switched off"


def welcome(ways_in: WaysIn, agent: str, home: Home, registry: str) -> str:
    """What a person needs to know once everything runs."""
    return f"""
  Routeloom Lite runs.

{ways_in}
  Agent         {agent}
  Registry      {registry}
  State         {home.root}
  API token     {home.admin_token}

  Try           {ways_in.command} probe ping --node demo 127.0.0.1
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
