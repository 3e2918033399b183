"""A control server of the simulation's own, in this process, whose clock stands until it is turned."""

from __future__ import annotations

import asyncio
import contextlib
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING

from control_server.app import create_app
from control_server.health.dependencies import watch_of
from control_server.resources import ControlResources, open_resources
from control_server.settings import ControlSettings
from control_server.ways_in import ADMIN_TOKEN_FILE, ensure_admin_token
from routeloom.lite.late_services import migrate
from routeloom.lite.ports import listen_on_loopback
from shared.web.app import go_away
from shared.web.server import Server, server_config

if TYPE_CHECKING:
    import socket
    from collections.abc import AsyncIterator, Generator, Mapping
    from pathlib import Path
    from typing import Any, Self

    from control_server.agents.service import AgentLink


@dataclass
class Clock:
    """Stands still until it is turned."""

    at: datetime

    def __call__(self) -> datetime:
        """The instant."""
        return self.at


class _QuietServer(Server):
    """A server that leaves the signals of the process alone."""

    @contextlib.contextmanager
    def capture_signals(self) -> Generator[None, None, None]:
        """Nothing is captured."""
        yield


@dataclass
class OwnServer:
    """The server; it can be stopped and started again on the same port, with the same data."""

    directory: Path
    clock: Clock
    #: What differs from a server without tiers on SQLite.
    settings: Mapping[str, Any] = field(default_factory=dict)
    #: Of its present life; None while it is stopped.
    resources: ControlResources | None = None
    _port: int = 0
    _link: AgentLink | None = None
    _life: contextlib.AsyncExitStack | None = None

    @property
    def url(self) -> str:
        """Its address."""
        return f"http://localhost:{self._port}"

    @property
    def token(self) -> str:
        """The token of the service principal."""
        return (self.directory / ADMIN_TOKEN_FILE).read_text(encoding="utf-8").strip()

    async def __aenter__(self) -> Self:
        """Make the database and start."""
        await migrate("control_server", self._settings().database)
        await self._start()
        return self

    async def __aexit__(self, *_ended: object) -> None:
        """Stop."""
        await self._stop()

    async def restart(self) -> None:
        """Stop as after a signal, then start anew."""
        await self._stop()
        await self._start()

    async def minute(self) -> None:
        """Write down when nodes were heard, as a server does once a minute of a clock that goes."""
        if self._link is not None:
            await self._link.write_last_seen()

    async def watch(self) -> None:
        """Look for changes of health, as a server does every few seconds of a clock that goes."""
        if self._link is not None and self.resources is not None:
            await watch_of(self.resources, self._link).look()

    def _settings(self) -> ControlSettings:
        return ControlSettings.model_validate(
            {
                "database": {"url": f"sqlite:///{self.directory / 'control.db'}"},
                "state_directory": self.directory,
                "runtime_state": {"url": "memory://lite"},
                "web": {"port": self._port, "public_url": self.url},
                "jobs": {"in_process": True},
                "api_tokens": {"requests_per_minute": 1_000_000},
                **self.settings,
            }
        )

    async def _start(self) -> None:
        listeners = listen_on_loopback(self._port)
        self._port = listeners[0].getsockname()[1]
        life = contextlib.AsyncExitStack()
        try:
            await life.enter_async_context(self._serving(listeners))
        except BaseException:
            for listener in listeners:
                listener.close()
            raise
        self._life = life

    async def _stop(self) -> None:
        if self._life is not None:
            await self._life.aclose()
            self._life = None

    @contextlib.asynccontextmanager
    async def _serving(self, listeners: list[socket.socket]) -> AsyncIterator[None]:
        settings = self._settings()
        async with open_resources(settings, self.clock) as resources:
            await ensure_admin_token(resources)
            app = create_app(settings, resources)
            server = _QuietServer(server_config(app, settings.web), lambda: go_away(app))
            running = asyncio.create_task(server.serve(sockets=listeners))
            try:
                await _first_of(running, server.ready)
                self.resources, self._link = resources, app.state.agent_link
                yield
            finally:
                self.resources = self._link = None
                server.stop()
                await running
                for listener in listeners:
                    listener.close()


async def _first_of(running: asyncio.Task[None], ready: asyncio.Event) -> None:
    waiting = asyncio.create_task(ready.wait())
    try:
        await asyncio.wait({running, waiting}, return_when=asyncio.FIRST_COMPLETED)
    finally:
        waiting.cancel()
    if running.done():
        running.result()
