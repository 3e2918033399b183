"""The application of control_server: fleet API, agents' socket and portal."""

from __future__ import annotations

from fastapi import FastAPI

from control_server.access import ControlAuthenticator
from control_server.agents import endpoints as agent_endpoints
from control_server.agents import socket as agent_socket
from control_server.agents import tasks as agent_tasks
from control_server.agents.dependencies import open_link
from control_server.agents.service import Switchboard
from control_server.alerts import endpoints as alert_endpoints
from control_server.alerts import pages as alert_pages
from control_server.api_tokens import endpoints as api_token_endpoints
from control_server.api_tokens import pages as api_token_pages
from control_server.audit import endpoints as audit_endpoints
from control_server.audit import pages as audit_pages
from control_server.desired_state import endpoints as desired_state_endpoints
from control_server.desired_state import pages as desired_state_pages
from control_server.desired_state import socket as desired_state_socket
from control_server.desired_state.dependencies import open_publishing
from control_server.desired_state.schemas import MAX_REQUEST_BYTES
from control_server.door import SIGN_IN_PATH, pages_of_portal
from control_server.enrolment import endpoints as enrolment_endpoints
from control_server.enrolment import pages as enrolment_pages
from control_server.flaps import endpoints as flap_endpoints
from control_server.flaps import pages as flap_pages
from control_server.flaps import tasks as flap_tasks
from control_server.health import endpoints as health_endpoints
from control_server.health import tasks as health_tasks
from control_server.health.dependencies import NodeHealths, health_of
from control_server.incidents import endpoints as incident_endpoints
from control_server.incidents import pages as incident_pages
from control_server.ipam import endpoints as ipam_endpoints
from control_server.ipam import pages as ipam_pages
from control_server.jobs import endpoints as job_endpoints
from control_server.jobs import pages as job_pages
from control_server.jobs import tasks as job_tasks
from control_server.metrics import JobMetrics
from control_server.neighbours import endpoints as neighbour_endpoints
from control_server.nodes import endpoints as node_endpoints
from control_server.nodes import pages as node_pages
from control_server.observations import endpoints as observation_endpoints
from control_server.observations import tasks as observation_tasks
from control_server.operators import dependencies as operator_dependencies
from control_server.operators import pages as operator_pages
from control_server.peerings import endpoints as peering_endpoints
from control_server.peerings import pages as peering_pages
from control_server.policy import endpoints as policy_endpoints
from control_server.policy import pages as policy_pages
from control_server.portal import endpoints as portal_endpoints
from control_server.portal import pages as portal_pages
from control_server.portal.dependencies import what_pages_show
from control_server.portal.service import FleetPulse
from control_server.probes import endpoints as probe_endpoints
from control_server.probes import pages as probe_pages
from control_server.probes import tasks as probe_tasks
from control_server.resources import ControlResources, open_resources
from control_server.routing import endpoints as routing_endpoints
from control_server.routing import pages as routing_pages
from control_server.routing import tasks as routing_tasks
from control_server.routing.dependencies import table_keeper
from control_server.settings import ControlSettings
from control_server.traffic import endpoints as traffic_endpoints
from control_server.traffic import pages as traffic_pages
from control_server.traffic import tasks as traffic_tasks
from control_server.worker import job_kinds, work_loops
from shared.kernel.clock import utc_now
from shared.kernel.loops import Loop
from shared.protocol.frames import MAX_FRAME_BYTES
from shared.web.app import Assembled, ServiceSpec, build_app, given_or_opened
from shared.web.page_routes import pages_router
from shared.web.pages import Pages
from shared.web.runtime_state import runtime_state_router

#: The first pages that people ask for come first: a request has the routes of every router before its own
#: analysed, once.
ROUTERS = (
    portal_pages.router,
    operator_pages.router,
    node_endpoints.router,
    enrolment_endpoints.tokens,
    enrolment_endpoints.registrations,
    enrolment_endpoints.agents,
    agent_endpoints.router,
    agent_socket.router,
    probe_endpoints.router,
    api_token_endpoints.router,
    desired_state_endpoints.router,
    desired_state_endpoints.generations,
    desired_state_endpoints.agents,
    policy_endpoints.router,
    ipam_endpoints.router,
    peering_endpoints.peerings,
    peering_endpoints.links,
    neighbour_endpoints.router,
    observation_endpoints.router,
    observation_endpoints.agents,
    traffic_endpoints.router,
    traffic_endpoints.agents,
    routing_endpoints.router,
    routing_endpoints.nodes,
    routing_endpoints.agents,
    routing_endpoints.metrics,
    audit_endpoints.router,
    health_endpoints.router,
    flap_endpoints.router,
    incident_endpoints.router,
    alert_endpoints.router,
    job_endpoints.router,
    portal_endpoints.router,
    node_pages.router,
    *peering_pages.ROUTERS,
    policy_pages.router,
    ipam_pages.router,
    desired_state_pages.router,
    probe_pages.router,
    traffic_pages.router,
    routing_pages.router,
    enrolment_pages.router,
    api_token_pages.router,
    flap_pages.router,
    incident_pages.router,
    alert_pages.router,
    job_pages.router,
    audit_pages.router,
)


def create_app(
    settings: ControlSettings, resources: ControlResources | None = None, pages: Pages | None = None
) -> FastAPI:
    """Build the application; `resources` that are given stay open at its end."""
    pages = pages or pages_of_portal(settings, resources.now if resources else utc_now)
    app = build_app(
        ServiceSpec(
            name="control",
            prefix="",
            settings=settings.web,
            description="The fleet: nodes, agents, probes.",
            routers=[pages_router(pages), runtime_state_router(""), *ROUTERS],
            open_resources=given_or_opened(resources, lambda: open_resources(settings)),
            assemble=_assemble,
            pages=pages,
            sign_in_path=SIGN_IN_PATH,
            body_limits={
                "/api/v1/previews": MAX_REQUEST_BYTES,
                "/api/v1/agent/reports/prefixes": MAX_FRAME_BYTES,
            },
        )
    )
    operator_pages.install(app)
    return app


def _assemble(app: FastAPI, resources: ControlResources) -> Assembled:
    switchboard = Switchboard()
    link = open_link(resources, switchboard)
    app.state.agent_link = link
    app.state.node_healths = NodeHealths(health_of(resources, link))
    app.state.publishing = open_publishing(resources, link)
    switchboard.when_ready.append(app.state.publishing.republish)
    app.state.report_observers = [health_tasks.observer(resources), flap_tasks.observer(resources)]
    observation_tasks.hear(switchboard, resources, app.state.report_observers)
    traffic_tasks.hear(switchboard, resources)
    app.state.table_keeper = table_keeper(resources, flap_tasks.best_paths(resources))
    routing_tasks.hear(switchboard, app.state.table_keeper)
    reminders = desired_state_socket.hear(switchboard, resources)
    operator_dependencies.prepare(app, resources)
    app.state.fleet_pulse = FleetPulse(lambda: what_pages_show(resources, link))
    return Assembled(
        authenticate=ControlAuthenticator(resources),
        loops=[
            *agent_tasks.loops(link),
            *reminders,
            *health_tasks.loops(resources, link),
            *_job_loops(app, resources),
            *probe_tasks.attach(app, resources, link),
        ],
        before_exit=[link.farewell],
    )


def _job_loops(app: FastAPI, resources: ControlResources) -> list[Loop]:
    app.state.job_kinds = job_kinds(resources)
    metrics = JobMetrics.in_registry(app.state.metrics.registry)
    if resources.settings.jobs.in_process:
        return work_loops(resources, metrics)
    return job_tasks.watching(resources, metrics)
