"""Builds a service's application: routes, refusals, middleware, health, metrics, lifespan."""

from __future__ import annotations

import asyncio
import os
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager, nullcontext
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from fastapi import Depends, FastAPI
from prometheus_client import CollectorRegistry

from shared import __version__
from shared.kernel.loops import running
from shared.listeners import PortWatch
from shared.web import csrf, problems
from shared.web.direct import DirectRoutes
from shared.web.head import HeadAsGet
from shared.web.health import health_router
from shared.web.metrics import CountedLoops, WebMetrics, metrics_router
from shared.web.middleware import BodyLimit, CanonicalHost, CatchBugs, RequestLog, SecurityHeaders
from shared.web.openapi import api_reference_router
from shared.web.runtime_state import ready_facts
from shared.web.streams import StreamPlaces
from shared.web.tiers import watching_tiers

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Sequence

    from fastapi import APIRouter

    from shared.database import Database
    from shared.kernel.loops import Loop
    from shared.web.direct import DirectRoute
    from shared.web.health import TierWatch
    from shared.web.pages import Pages
    from shared.web.principals import Authenticator
    from shared.web.settings import WebSettings


class Resources(Protocol):
    """What every service's resources have at least."""

    @property
    def database(self) -> Database:
        """The service's own database."""


@dataclass(frozen=True, slots=True)
class Assembled:
    """What a service makes of its open resources."""

    #: Finds the caller of a request.
    authenticate: Authenticator
    #: Background work of this process.
    loops: Sequence[Loop] = ()
    #: The tiers that `/healthz` speaks of.
    tier_watches: Sequence[TierWatch] = ()
    #: The ports of other protocols that `/healthz` speaks of.
    port_watches: Sequence[PortWatch] = ()
    #: What to do when the server is told to stop, while sockets are still open.
    before_exit: Sequence[Callable[[], Awaitable[None]]] = ()
    #: Each tells `/readyz` why requests should go elsewhere, or None; they ask nobody.
    ready_looks: Sequence[Callable[[], dict[str, Any] | None]] = ()


#: The framework asks at every request whether traces are wanted. Whoever wants them says so in such a
#: variable when the process starts (OpenTelemetry, environment variables), or it is never asked.
_OF_TELEMETRY = "OTEL_"

R = TypeVar("R")


def given_or_opened(
    given: R | None, open_resources: Callable[[], AbstractAsyncContextManager[R]]
) -> Callable[[], AbstractAsyncContextManager[R]]:
    """Resources that the caller keeps open, or fresh ones that end with the application."""
    return open_resources if given is None else lambda: nullcontext(given)


@dataclass(frozen=True, slots=True)
class ServiceSpec:
    """What differs between the services."""

    name: str
    prefix: str
    settings: WebSettings
    routers: Sequence[APIRouter]
    #: Opens the resources; the builder closes them at the end.
    open_resources: Callable[[], AbstractAsyncContextManager[Any]]
    #: Called once with the open resources.
    assemble: Callable[[FastAPI, Any], Assembled]
    pages: Pages | None = None
    sign_in_path: str | None = None
    ready_facts: dict[str, Any] = field(default_factory=dict)
    #: Most bytes of a request's body, for paths that take more than others.
    body_limits: dict[str, int] = field(default_factory=dict)
    description: str = ""
    #: Answered before any other route is looked at; they are among the routers' too, for the description.
    direct_routes: Sequence[DirectRoute] = ()


def build_app(spec: ServiceSpec) -> FastAPI:
    """The application of one service. Nothing is opened before its lifespan starts."""
    registry = CollectorRegistry()
    app = FastAPI(
        title=f"Routeloom {spec.name}",
        version=__version__,
        description=spec.description,
        docs_url=None,
        redoc_url=None,
        openapi_url=None,
        redirect_slashes=False,  # the redirect would name whatever Host was sent
        lifespan=lambda app: _lifespan(app, spec),
        dependencies=[Depends(csrf.protect)],
        generate_unique_id_function=lambda route: route.name,
        telemetry=None if _wants_telemetry() else {"tracing": False, "metrics": False, "logs": False},
    )
    app.state.metrics = WebMetrics.in_registry(registry)
    app.state.loop_observer = CountedLoops(registry)
    app.state.settings = spec.settings
    app.state.stream_places = StreamPlaces(spec.settings.streams)
    app.state.pages = spec.pages
    app.state.sign_in_path = spec.sign_in_path
    app.state.ready_facts = spec.ready_facts
    app.state.tier_watches = []
    app.state.port_watches = []
    app.state.ready_looks = []
    problems.install(app)
    app.include_router(health_router(spec.prefix))
    app.include_router(metrics_router(spec.prefix))
    app.include_router(api_reference_router(spec.prefix, spec.name))
    for router in spec.routers:
        app.include_router(router)
    app.add_middleware(DirectRoutes, application=app, routes=spec.direct_routes)
    app.add_middleware(HeadAsGet)
    app.add_middleware(BodyLimit, own=spec.body_limits)
    app.add_middleware(CatchBugs)
    app.add_middleware(CanonicalHost, public_url=spec.settings.public_url)
    app.add_middleware(SecurityHeaders)
    app.add_middleware(RequestLog, metrics=app.state.metrics, service=spec.name)
    return app


def _wants_telemetry() -> bool:
    return any(name.startswith(_OF_TELEMETRY) for name in os.environ)


@asynccontextmanager
async def _lifespan(app: FastAPI, spec: ServiceSpec) -> AsyncIterator[None]:
    app.state.going_away = asyncio.Event()
    async with AsyncExitStack() as stack:
        app.state.resources = await stack.enter_async_context(spec.open_resources())
        app.state.ready_facts = {**spec.ready_facts, **ready_facts(app.state.resources)}
        tiers = await stack.enter_async_context(
            watching_tiers(app.state.resources, app.state.metrics.registry)
        )
        app.state.tiers = tiers
        opened = spec.assemble(app, app.state.resources)
        app.state.authenticate = opened.authenticate
        app.state.tier_watches = [*tiers.tiers, *opened.tier_watches]
        app.state.port_watches = list(opened.port_watches)
        app.state.before_exit = list(opened.before_exit)
        app.state.ready_looks = list(opened.ready_looks)
        loops = running([*tiers.loops, *opened.loops], app.state.loop_observer)
        await stack.enter_async_context(loops)
        yield
        app.state.going_away.set()


async def go_away(app: FastAPI) -> None:
    """Tell streams and sockets that the server stops, while they can still be told."""
    if hasattr(app.state, "going_away"):
        app.state.going_away.set()
        for act in app.state.before_exit:
            await act()
