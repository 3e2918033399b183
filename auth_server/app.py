"""The application of auth_server."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass

from fastapi import FastAPI
from starlette.requests import HTTPConnection

from auth_server.resources import AuthResources, open_resources
from auth_server.settings import AuthSettings
from shared.kernel.loops import Loop
from shared.kernel.principal import Principal
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


async def _nobody(connection: HTTPConnection) -> Principal | None:
    """Nobody can sign in here yet."""
    del connection
    return None


def create_app(settings: AuthSettings, resources: AuthResources | None = None) -> FastAPI:
    """Build the application; `resources` that are given stay open at its end."""
    pages = build_pages(["auth_server"], PageOptions(prefix="/auth", site_name=settings.fleet_name))

    @asynccontextmanager
    async def opened() -> AsyncIterator[AuthResources]:
        if resources is not None:
            yield resources
            return
        async with open_resources(settings) as fresh:
            yield fresh

    return build_app(
        ServiceSpec(
            name="auth",
            prefix="/auth",
            settings=settings.web,
            description="Who someone is.",
            routers=[pages_router(pages)],
            open_resources=opened,
            assemble=_assemble,
            pages=pages,
        )
    )


def _assemble(_app: FastAPI, _resources: AuthResources) -> Assembled:
    return Assembled(authenticate=_nobody, loops=[], tier_watches=[], before_exit=[])
