"""Starting Lite: lock, listen, serve the way in, say where it is; then the services and the agent."""

from __future__ import annotations

import asyncio
import gc
import warnings
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING

import typer
from pydantic import ValidationError
from pydantic.warnings import UnsupportedFieldAttributeWarning

from control_server.door import create_door, pages_of_portal
from control_server.resources import ControlResources
from control_server.resources import open_resources as open_control
from control_server.settings import ControlSettings
from control_server.ways_in import ensure_admin_token, make_session_link
from routeloom.lite.configuration import Addresses, LiteSettings, lite_settings
from routeloom.lite.dispatcher import Dispatcher
from routeloom.lite.errors import PublicUrlRefused
from routeloom.lite.home import Home, default_home
from routeloom.lite.late_services import GivenUp, LateServices, migrate
from routeloom.lite.ports import listen_on_loopback
from routeloom.lite.welcome import Running, WaysIn, command_for, protocol_ports
from shared.database.lock import InstanceLock
from shared.kernel.files import write_private
from shared.kernel.tasks import end
from shared.web.commands import run
from shared.web.logs import LogFormat, configure_logs
from shared.web.server import Server, server_config

if TYPE_CHECKING:
    import socket
    from pathlib import Path


def run_lite(*, port: int, home: Path | None, log_level: str, public_url: str = "") -> None:
    """Run until told to stop; a reason not to start is one sentence and a status that is not 0."""
    # FastAPI switches it off around its analysis of a route, which in two threads at once does not hold.
    warnings.simplefilter("ignore", UnsupportedFieldAttributeWarning)
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
class _Lite:
    home: Home
    addresses: Addresses
    port: int
    log_level: str

    async def run(self, listeners: list[socket.socket]) -> None:
        settings, own = self._settings()
        await migrate("control_server", own.database)
        write_private(self.home.address, f"{own.web.public_url}\n")
        async with open_control(own) as control:
            await ensure_admin_token(control)
            await self._serve(settings, control, listeners)

    def _settings(self) -> tuple[LiteSettings, ControlSettings]:
        try:
            settings = lite_settings(self.home, self.addresses, self.log_level)
            return settings, settings.control()
        except ValidationError as error:
            reason = str(error.errors(include_url=False)[0]["msg"]).removeprefix("Value error, ")
            raise PublicUrlRefused(f"{self.addresses.public} {reason}.") from None

    async def _serve(
        self, settings: LiteSettings, control: ControlResources, listeners: list[socket.socket]
    ) -> None:
        pages = pages_of_portal(control.settings, control.now)
        late = LateServices(self.home, settings, control, pages)
        dispatcher = Dispatcher(late.control, late.auth, late.registry, create_door(control, pages))
        server = Server(server_config(dispatcher, control.settings.web), dispatcher.go_away)
        stopped = asyncio.Event()
        others = asyncio.create_task(self._bring_up(server, control, late, stopped))
        try:
            await server.serve(sockets=listeners)
        finally:
            stopped.set()
            late.give_up()
            if not server.started:
                others.cancel()
            await asyncio.gather(others, return_exceptions=True)
        if not others.cancelled():
            others.result()

    async def _bring_up(
        self, server: Server, control: ControlResources, late: LateServices, stopped: asyncio.Event
    ) -> None:
        """What comes after the door and stays until the server has ended; its failure ends the server."""
        await server.ready.wait()
        command = command_for(self.home)
        typer.echo(WaysIn(self.addresses, self.port, await make_session_link(control), command))
        agent = asyncio.create_task(self._bring_up_agent(late))
        try:
            async with late.up() as arrived:
                gc.freeze()
                gc.enable()
                await _first_of(agent, stopped)
                if agent.done() and not stopped.is_set():
                    ports = await protocol_ports(arrived.registry)
                    typer.echo(Running(arrived.invitation, agent.result(), ports, self.home, command))
                await stopped.wait()
        except GivenUp:
            return
        finally:
            server.stop()
            await end(agent)

    async def _bring_up_agent(self, late: LateServices) -> str:
        await late.control.arrived()
        await asyncio.to_thread(import_module, "routeloom.lite.local_agent")
        from routeloom.lite.local_agent import LocalAgent  # noqa: PLC0415 - the thread has imported it

        return await LocalAgent(self.home, self.addresses.local).bring_up()


async def _first_of(task: asyncio.Task[str], stopped: asyncio.Event) -> None:
    waiting = asyncio.create_task(stopped.wait())
    try:
        await asyncio.wait({task, waiting}, return_when=asyncio.FIRST_COMPLETED)
    finally:
        waiting.cancel()
