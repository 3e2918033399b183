"""The application of registry_server: look-ups and the mirror behind them."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass

from fastapi import FastAPI

from registry_server.access import DigestAuthenticator
from registry_server.lookup import endpoints as lookup_endpoints
from registry_server.metrics import RegistryMetrics
from registry_server.mirror import endpoints as mirror_endpoints
from registry_server.mirror import tasks as mirror_tasks
from registry_server.resources import RegistryResources, open_resources
from registry_server.settings import RegistrySettings
from shared.kernel.loops import Loop
from shared.web.app import ServiceSpec, build_app
from shared.web.health import TierWatch
from shared.web.pages import PageOptions, build_pages
from shared.web.preferences import pages_router
from shared.web.principals import Authenticator


@dataclass(frozen=True, slots=True)
class Assembled:
    """What the open resources become."""

    authenticate: Authenticator
    loops: Sequence[Loop]
    tier_watches: Sequence[TierWatch]
    before_exit: Sequence[Callable[[], Awaitable[None]]]


def create_app(
    settings: RegistrySettings,
    resources: RegistryResources | None = None,
    authenticate: Authenticator | None = None,
) -> FastAPI:
    """Build the application; `resources` that are given stay open at its end.

    `authenticate` replaces the service's own list of tokens where another service of the same process knows
    who is who.
    """
    pages = build_pages(["registry_server"], PageOptions(prefix="/registry", site_name=settings.fleet_name))

    @asynccontextmanager
    async def opened() -> AsyncIterator[RegistryResources]:
        if resources is not None:
            yield resources
            return
        async with open_resources(settings) as fresh:
            yield fresh

    def assemble(app: FastAPI, given: RegistryResources) -> Assembled:
        mirror = given.mirror(RegistryMetrics.in_registry(app.state.metrics.registry))
        app.state.mirror = mirror
        return Assembled(
            authenticate=authenticate or DigestAuthenticator(settings.token_digests),
            loops=mirror_tasks.loops(mirror),
            tier_watches=[],
            before_exit=[],
        )

    return build_app(
        ServiceSpec(
            name="registry",
            prefix="/registry",
            settings=settings.web,
            description="What the routing registry says.",
            routers=[pages_router(pages), lookup_endpoints.router, mirror_endpoints.router],
            open_resources=opened,
            assemble=assemble,
            pages=pages,
        )
    )
