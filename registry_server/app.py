"""The application of registry_server: look-ups and the mirror behind them."""

from __future__ import annotations

from collections.abc import Callable

from fastapi import FastAPI

from registry_server.access import DigestAuthenticator
from registry_server.lookup.endpoints import identity as identity_endpoints
from registry_server.lookup.endpoints import records as record_endpoints
from registry_server.metrics import RegistryMetrics
from registry_server.mirror import endpoints as mirror_endpoints
from registry_server.mirror import tasks as mirror_tasks
from registry_server.resources import RegistryResources, open_resources
from registry_server.settings import RegistrySettings
from shared.web.app import Assembled, ServiceSpec, build_app, given_or_opened
from shared.web.page_routes import pages_router
from shared.web.pages import PageOptions, build_pages
from shared.web.principals import Authenticator
from shared.web.runtime_state import runtime_state_router


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

    return build_app(
        ServiceSpec(
            name="registry",
            prefix="/registry",
            settings=settings.web,
            description="What the routing registry says.",
            routers=[
                pages_router(pages),
                runtime_state_router("/registry"),
                record_endpoints.router,
                identity_endpoints.router,
                mirror_endpoints.router,
            ],
            open_resources=given_or_opened(resources, lambda: open_resources(settings)),
            assemble=_assembler(authenticate or DigestAuthenticator(settings.token_digests)),
            pages=pages,
        )
    )


def _assembler(authenticate: Authenticator) -> Callable[[FastAPI, RegistryResources], Assembled]:
    def assemble(app: FastAPI, resources: RegistryResources) -> Assembled:
        mirror = resources.mirror(RegistryMetrics.in_registry(app.state.metrics.registry))
        app.state.mirror = mirror
        return Assembled(authenticate=authenticate, loops=mirror_tasks.loops(mirror))

    return assemble
