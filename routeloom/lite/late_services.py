"""The services that come up after the door answers: the fleet first, then sign-in, then the registry.

Importing and building them is most of a start. A thread does it, so that the door answers meanwhile; their
modules are named here by strings or inside functions, and nowhere else in Lite's way to its address.
"""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING

from control_server.access import ControlAuthenticator
from routeloom.lite.later import Later
from shared.database import open_database
from shared.database.migrations import upgrade
from shared.kernel.files import write_private
from shared.kernel.principal import Role

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from types import ModuleType

    from fastapi import FastAPI

    from auth_server.resources import AuthResources
    from control_server.resources import ControlResources
    from routeloom.lite.configuration import LiteSettings
    from routeloom.lite.home import Home
    from shared.database import DatabaseSettings
    from shared.web.pages import Pages


@dataclass(frozen=True, slots=True)
class Arrived:
    """What the welcome tells of them."""

    #: An address at which the first administrator makes an account; empty once there is one.
    invitation: str
    registry: FastAPI


class GivenUp(Exception):
    """Lite was stopped before all of it was there."""


class LateServices:
    """Fleet, sign-in and registry of one Lite."""

    def __init__(self, home: Home, settings: LiteSettings, control: ControlResources, pages: Pages) -> None:
        """`control` is what the door has opened already, `pages` what it draws."""
        self.control = Later("fleet")
        self.auth = Later("sign-in")
        self.registry = Later("registry")
        self._home = home
        self._settings = settings
        self._resources = control
        self._pages = pages
        self._given_up = False

    def give_up(self) -> None:
        """Bring in nothing more."""
        self._given_up = True

    @asynccontextmanager
    async def up(self) -> AsyncIterator[Arrived]:
        """All three serve inside of this. Raises GivenUp."""
        async with AsyncExitStack() as stack:
            await self._bring_up_control(stack)
            resources = await self._bring_up_auth(stack)
            registry = await self._bring_up_registry(stack)
            yield Arrived(await _invitation(resources), registry)

    async def _bring_in(self, module: str) -> ModuleType:
        """Import it. An import cannot be broken off; whoever stops Lite waits for this one and no other."""
        self._go_on()
        imported = await asyncio.to_thread(import_module, module)
        self._go_on()
        return imported

    def _go_on(self) -> None:
        if self._given_up:
            raise GivenUp

    async def _bring_up_control(self, stack: AsyncExitStack) -> None:
        await self._bring_in("control_server.app")
        from control_server.app import create_app  # noqa: PLC0415 - the thread has imported it

        app = await asyncio.to_thread(create_app, self._resources.settings, self._resources, self._pages)
        await stack.enter_async_context(self.control.serving(app))

    async def _bring_up_auth(self, stack: AsyncExitStack) -> AuthResources:
        await self._bring_in("auth_server.commands")
        settings = self._settings.auth()
        await migrate("auth_server", settings.database)
        from auth_server.app import create_app  # noqa: PLC0415 - the thread has imported it
        from auth_server.commands import seed  # noqa: PLC0415
        from auth_server.resources import open_resources  # noqa: PLC0415

        await seed(settings)
        resources = await stack.enter_async_context(open_resources(settings))
        app = await asyncio.to_thread(create_app, settings, resources)
        await stack.enter_async_context(self.auth.serving(app))
        return resources

    async def _bring_up_registry(self, stack: AsyncExitStack) -> FastAPI:
        await self._bring_in("registry_server.app")
        settings = self._settings.registry()
        url = settings.mirror.url
        write_private(self._home.upstream, f"{url.get_secret_value() if url else ''}\n")
        await migrate("registry_server", settings.database)
        if settings.follows_sample and not self._home.sample_registry.exists():
            commands = await self._bring_in("registry_server.commands")
            await commands.seed(settings)
        from registry_server.app import create_app  # noqa: PLC0415 - the thread has imported it

        authenticate = ControlAuthenticator(self._resources)
        app = await asyncio.to_thread(create_app, settings, authenticate=authenticate)
        await stack.enter_async_context(self.registry.serving(app))
        return app


async def _invitation(resources: AuthResources) -> str:
    from auth_server.commands import has_administrator, make_invitation  # noqa: PLC0415 - imported by now

    return "" if await has_administrator(resources) else await make_invitation(resources, Role.ADMIN)


async def migrate(package: str, settings: DatabaseSettings) -> None:
    """Bring the database of a service to this version's schema."""
    database = open_database(settings)
    try:
        await upgrade(database, package)
    finally:
        await database.close()
