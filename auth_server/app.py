"""The application of auth_server."""

from __future__ import annotations

from fastapi import FastAPI
from starlette.requests import HTTPConnection

from auth_server.access import CrossOriginAccess
from auth_server.audit import endpoints as audit_endpoints
from auth_server.authorization import endpoints as authorization_endpoints
from auth_server.authorization import pages as authorization_pages
from auth_server.authorization import tasks as authorization_tasks
from auth_server.authorization.errors import AuthorizationRefused, SentBack
from auth_server.clients import endpoints as client_endpoints
from auth_server.clients.errors import OAuthError
from auth_server.device import dependencies as device_dependencies
from auth_server.device import endpoints as device_endpoints
from auth_server.device import pages as device_pages
from auth_server.device import tasks as device_tasks
from auth_server.ownership import dependencies as ownership_dependencies
from auth_server.ownership import endpoints as ownership_endpoints
from auth_server.ownership import pages as ownership_pages
from auth_server.ownership import tasks as ownership_tasks
from auth_server.passkeys import dependencies as passkey_dependencies
from auth_server.passkeys import endpoints as passkey_endpoints
from auth_server.passkeys import pages as passkey_pages
from auth_server.passkeys import tasks as passkey_tasks
from auth_server.portal import endpoints as portal_endpoints
from auth_server.portal import pages as portal_pages
from auth_server.resources import AuthResources, open_resources
from auth_server.sessions import endpoints as session_endpoints
from auth_server.sessions import pages as session_pages
from auth_server.sessions import tasks as session_tasks
from auth_server.sessions.dependencies import end_sessions_with_account, find_signed_in, sessions_of
from auth_server.sessions.rules import SIGN_IN_PAGE
from auth_server.sessions.store import LastUses
from auth_server.settings import AuthSettings
from auth_server.signing_keys import endpoints as signing_key_endpoints
from auth_server.tokens import dependencies as token_dependencies
from auth_server.tokens import endpoints as token_endpoints
from auth_server.tokens import pages as token_pages
from auth_server.tokens import tasks as token_tasks
from auth_server.tokens.errors import BearerError, LogoutRefused
from shared.kernel.clock import utc_now
from shared.kernel.principal import Principal
from shared.web.app import Assembled, ServiceSpec, build_app, given_or_opened
from shared.web.direct import DirectRoute
from shared.web.navigation import ACCESS_NAVIGATION, CONTROL_NAVIGATION
from shared.web.page_routes import pages_router
from shared.web.pages import PageOptions, build_pages

ROUTERS = (
    passkey_endpoints.router,
    session_endpoints.router,
    portal_endpoints.router,
    audit_endpoints.router,
    client_endpoints.router,
    ownership_endpoints.router,
    session_pages.router,
    passkey_pages.router,
    ownership_pages.router,
    *portal_pages.routers,
    authorization_endpoints.router,
    authorization_pages.router,
    device_pages.router,
    token_pages.router,
    signing_key_endpoints.router,
)
#: Called by programs and from other sites, by the rules of OAuth: no cookie of ours is any authority there,
#: or the endpoint itself asks before it acts. So they stand outside the check of form tokens.
PROTOCOL_ROUTERS = (
    authorization_pages.protocol_router,
    token_pages.protocol_router,
    token_endpoints.router,
    authorization_endpoints.protocol_router,
    device_endpoints.protocol_router,
)
REFUSALS = (
    (OAuthError, authorization_pages.answer_refusal),
    (AuthorizationRefused, authorization_pages.show_refusal),
    (LogoutRefused, authorization_pages.show_refusal),
    (SentBack, authorization_pages.send_back),
    (BearerError, token_endpoints.answer_bearer_error),
)


async def _authenticate(connection: HTTPConnection) -> Principal | None:
    signed_in = await find_signed_in(connection)
    return signed_in.principal if signed_in else None


def create_app(settings: AuthSettings, resources: AuthResources | None = None) -> FastAPI:
    """Build the application; `resources` that are given stay open at its end."""
    pages = build_pages(
        ["auth_server"],
        PageOptions(
            prefix="/auth",
            navigation=(*CONTROL_NAVIGATION, *ACCESS_NAVIGATION),
            sign_out_path="/auth/sign-out",
            site_name=settings.fleet_name,
            public_address=settings.web.public_url,
            now=resources.now if resources else utc_now,
        ),
    )

    app = build_app(
        ServiceSpec(
            name="auth",
            prefix="/auth",
            settings=settings.web,
            description="Who someone is.",
            routers=[pages_router(pages), *ROUTERS],
            open_resources=given_or_opened(resources, lambda: open_resources(settings)),
            assemble=_assemble,
            pages=pages,
            sign_in_path=SIGN_IN_PAGE,
            direct_routes=[
                route for route in token_endpoints.router.routes if isinstance(route, DirectRoute)
            ],
        )
    )
    # Before all others: routes are tried in order, and these are asked the most.
    app.router.routes[:0] = [route for router in PROTOCOL_ROUTERS for route in router.routes]
    for refusal, answer in REFUSALS:
        app.add_exception_handler(refusal, answer)
    app.add_middleware(CrossOriginAccess)
    return app


def _assemble(app: FastAPI, resources: AuthResources) -> Assembled:
    app.state.last_uses = LastUses()
    # What ends with a session, in this order, inside the transaction that ends it.
    app.state.after_session_end = []
    # What ends with an account's right to sign in, in this order, inside the transaction of the change.
    app.state.after_account_change = [end_sessions_with_account(app, resources)]
    passkey_dependencies.prepare(app, resources)
    ownership_dependencies.prepare(app, resources)
    tokens = token_dependencies.prepare(app, resources)
    app.state.left_requests = token_dependencies.left_requests(resources)
    device_dependencies.prepare(app, tokens)
    relay = app.state.logout_relay = token_tasks.LogoutRelay(tokens)
    app.state.after_session_end.append(token_dependencies.end_grants_with_session(tokens, relay.kick))
    app.state.after_client_end = [token_dependencies.end_grants_with_client(tokens)]
    app.state.after_proof_end.append(token_dependencies.end_grants_with_proof(tokens))
    app.state.after_account_change += [
        token_dependencies.end_grants_with_account(tokens),
        token_dependencies.tell_of_new_role(
            tokens, lambda session: sessions_of(app, resources, session), relay.kick
        ),
    ]
    return Assembled(
        authenticate=_authenticate,
        loops=[
            session_tasks.note_uses(resources, app.state.last_uses),
            *session_tasks.loops(resources),
            *passkey_tasks.loops(resources),
            *ownership_tasks.loops(ownership_dependencies.rechecking(app, resources)),
            *authorization_tasks.loops(resources),
            *token_tasks.loops(tokens, relay),
            *device_tasks.loops(tokens),
        ],
    )
