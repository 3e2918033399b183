"""The application of registry_server: look-ups and the mirror behind them."""

from __future__ import annotations

from collections.abc import Callable

from fastapi import FastAPI

from registry_server.access import DigestAuthenticator
from registry_server.history import endpoints as history_endpoints
from registry_server.lookup.endpoints import finding as finding_endpoints
from registry_server.lookup.endpoints import identity as identity_endpoints
from registry_server.lookup.endpoints import objects as object_endpoints
from registry_server.lookup.endpoints import records as record_endpoints
from registry_server.metrics import RegistryMetrics, watch_protocols
from registry_server.mirror import endpoints as mirror_endpoints
from registry_server.mirror import tasks as mirror_tasks
from registry_server.policy import endpoints as policy_endpoints
from registry_server.portal import pages as portal_pages
from registry_server.rdap import endpoints as rdap_endpoints
from registry_server.resources import RegistryResources, open_resources
from registry_server.roas import endpoints as roa_endpoints
from registry_server.roas import pages as roa_pages
from registry_server.roas import socket as rtr_socket
from registry_server.roas.service.exports import RoaService
from registry_server.roas.service.routers import RouterCache
from registry_server.schema import endpoints as schema_endpoints
from registry_server.schema.service import SchemaService
from registry_server.settings import RegistrySettings
from registry_server.snapshot.schemas.content import Snapshot
from registry_server.snapshot.service import Freshness, SnapshotKeeper
from registry_server.snapshot.tasks import SnapshotLoops
from registry_server.whois import socket as whois_socket
from registry_server.whois.service import WhoisService
from shared.kernel.loops import Loop
from shared.listeners import PortWatch
from shared.web.app import Assembled, ServiceSpec, build_app, given_or_opened
from shared.web.navigation import CONTROL_NAVIGATION
from shared.web.page_routes import pages_router
from shared.web.pages import PageOptions, build_pages
from shared.web.principals import Authenticator
from shared.web.runtime_state import runtime_state_router

#: In the order in which routes are tried: what is narrower stands first.
_ROUTERS = (
    record_endpoints.router,
    identity_endpoints.router,
    finding_endpoints.router,
    schema_endpoints.router,
    policy_endpoints.router,
    history_endpoints.router,
    object_endpoints.router,
    mirror_endpoints.router,
    roa_endpoints.router,
    rdap_endpoints.router,
    roa_pages.router,
    portal_pages.router,
)


def create_app(
    settings: RegistrySettings,
    resources: RegistryResources | None = None,
    authenticate: Authenticator | None = None,
) -> FastAPI:
    """Build the application; `resources` that are given stay open at its end.

    `authenticate` replaces the service's own list of tokens where another service of the same process knows
    who is who.
    """
    pages = build_pages(
        ["registry_server"],
        PageOptions(prefix="/registry", navigation=CONTROL_NAVIGATION, site_name=settings.fleet_name),
    )

    return build_app(
        ServiceSpec(
            name="registry",
            prefix="/registry",
            settings=settings.web,
            description="What the routing registry says.",
            routers=[pages_router(pages), runtime_state_router("/registry"), *_ROUTERS],
            open_resources=given_or_opened(resources, lambda: open_resources(settings)),
            assemble=_assembler(settings, authenticate or DigestAuthenticator(settings.token_digests)),
            pages=pages,
        )
    )


def _assembler(
    settings: RegistrySettings, authenticate: Authenticator
) -> Callable[[FastAPI, RegistryResources], Assembled]:
    def assemble(app: FastAPI, resources: RegistryResources) -> Assembled:
        snapshots = SnapshotLoops(resources.snapshots, resources.cache)
        metrics = RegistryMetrics.in_registry(app.state.metrics.registry)
        mirror = resources.mirror(metrics, snapshots.look)
        app.state.mirror = mirror
        app.state.schemas = SchemaService(lambda: resources.snapshots.current)
        # A process that knows nobody by their session names the job that the fleet's service has for it.
        app.state.syncs_by_job = isinstance(authenticate, DigestAuthenticator)
        protocols, watches = _protocols(app, settings, resources)
        return Assembled(
            authenticate=authenticate,
            loops=[*mirror_tasks.loops(mirror), *snapshots.loops(), *protocols],
            port_watches=[watch for watch in watches if watch.listener.settings.port is not None],
            ready_looks=[] if settings.mirror.url is None else [_freshness(resources).refusal],
        )

    return assemble


def _freshness(resources: RegistryResources) -> Freshness:
    within = resources.settings.mirror.ready_within
    return Freshness(resources.snapshots, within, resources.now(), resources.now)


def _protocols(
    app: FastAPI, settings: RegistrySettings, resources: RegistryResources
) -> tuple[list[Loop], list[PortWatch]]:
    """What answers from the snapshot: whois, the files of ROAs, and the port for routers."""
    keeper = resources.snapshots
    whois = WhoisService(keeper, settings.whois)
    roas = app.state.roas = RoaService(keeper, settings.roas, resources.now)
    routers = app.state.routers = RouterCache(settings.rtr, resources.now, lambda: roas.fresh)

    async def take(snapshot: Snapshot) -> None:
        await roas.take(snapshot)
        routers.take(roas.current())

    keeper.follow(take)
    several = settings.web.workers > 1
    ports = app.state.ports = {
        "whois": whois_socket.listen(whois, shared=several),
        "rtr": rtr_socket.listen(routers, roas, shared=several),
    }
    watches = [
        PortWatch("whois", ports["whois"], whois_socket.probe),
        PortWatch("rtr", ports["rtr"], lambda: rtr_socket.probe(routers)),
    ]
    _watch_numbers(app, resources.snapshots, whois, routers)
    return [loop for each in (*ports.values(), *watches) for loop in each.loops()], watches


def _watch_numbers(app: FastAPI, keeper: SnapshotKeeper, whois: WhoisService, routers: RouterCache) -> None:
    """Tell metrics what the protocols know of themselves."""
    ports = app.state.ports
    watch_protocols(
        app.state.metrics.registry,
        {
            "routeloom_registry_whois_connections": lambda: len(ports["whois"].table),
            "routeloom_registry_whois_questions": lambda: whois.questions,
            "routeloom_registry_whois_refusals": lambda: whois.refusals,
            "routeloom_registry_rtr_connections": lambda: len(ports["rtr"].table),
            "routeloom_registry_rtr_serial": lambda: routers.serial or 0,
            "routeloom_registry_snapshot_version": lambda: (
                keeper.current.facts.version if keeper.current else 0
            ),
        },
    )
