"""What people meet first: the pages of signing in, which can be served while the rest still comes.

It imports no feature but the operators', and `app` serves the same routes; whoever is signed in is let
through to the whole.
"""

from __future__ import annotations

from contextlib import nullcontext
from typing import TYPE_CHECKING

from control_server.access import ControlAuthenticator
from control_server.operators import dependencies as operator_dependencies
from control_server.operators import pages as operator_pages
from shared.kernel.errors import Unauthenticated
from shared.web.app import Assembled, ServiceSpec, build_app
from shared.web.navigation import CONTROL_NAVIGATION
from shared.web.page_routes import pages_router
from shared.web.pages import PageOptions, Pages, build_pages
from shared.web.routing import Router

if TYPE_CHECKING:
    from fastapi import FastAPI

    from control_server.resources import ControlResources
    from control_server.settings import ControlSettings
    from shared.kernel.clock import Clock

SIGN_IN_PATH = "/sign-in"
_home = Router(include_in_schema=False)


@_home.get("/")
async def ask_to_sign_in() -> None:
    """For whoever brings nothing that could say who they are. Raises Unauthenticated."""
    raise Unauthenticated


def pages_of_portal(settings: ControlSettings, now: Clock) -> Pages:
    """The pages of the portal, every feature's."""
    return build_pages(
        ["control_server"],
        PageOptions(
            navigation=CONTROL_NAVIGATION,
            sign_out_path="/sign-out",
            site_name=settings.fleet_name,
            public_address=settings.web.public_url,
            now=now,
        ),
    )


def create_door(resources: ControlResources, pages: Pages) -> FastAPI:
    """An application of the sign-in pages alone, on resources that stay open at its end."""
    app = build_app(
        ServiceSpec(
            name="control",
            prefix="",
            settings=resources.settings.web,
            routers=[_home, operator_pages.router, pages_router(pages)],
            open_resources=lambda: nullcontext(resources),
            assemble=_assemble,
            pages=pages,
            sign_in_path=SIGN_IN_PATH,
        )
    )
    operator_pages.install(app)
    return app


def _assemble(app: FastAPI, resources: ControlResources) -> Assembled:
    operator_dependencies.prepare(app, resources)
    return Assembled(authenticate=ControlAuthenticator(resources))
