"""The application of auth_server."""

from __future__ import annotations

from fastapi import FastAPI
from starlette.requests import HTTPConnection

from auth_server.resources import AuthResources, open_resources
from auth_server.settings import AuthSettings
from shared.kernel.principal import Principal
from shared.web.app import Assembled, ServiceSpec, build_app, given_or_opened
from shared.web.page_routes import pages_router
from shared.web.pages import PageOptions, build_pages


async def _nobody(connection: HTTPConnection) -> Principal | None:
    """Nobody can sign in here yet."""
    del connection
    return None


def create_app(settings: AuthSettings, resources: AuthResources | None = None) -> FastAPI:
    """Build the application; `resources` that are given stay open at its end."""
    pages = build_pages(["auth_server"], PageOptions(prefix="/auth", site_name=settings.fleet_name))

    return build_app(
        ServiceSpec(
            name="auth",
            prefix="/auth",
            settings=settings.web,
            description="Who someone is.",
            routers=[pages_router(pages)],
            open_resources=given_or_opened(resources, lambda: open_resources(settings)),
            assemble=_assemble,
            pages=pages,
        )
    )


def _assemble(_app: FastAPI, _resources: AuthResources) -> Assembled:
    return Assembled(authenticate=_nobody)
