"""Who may ask for what: one row for every route. A route without a row fails the test, and so does a row
without a route.

`public` is for everybody, `form` for everybody's browser, `client` for registered clients with their own
secret and for bearers of OAuth, `agent` for agents, `browser` for whoever is signed in by a browser, `stored`
for whoever was asked that very question, `own` for a browser or a token with `access:admin`; a scope is for
the roles and tokens that have it.
"""

from shared.kernel.principal import Scope

PUBLIC, FORM, CLIENT, AGENT = "public", "form", "client", "agent"
BROWSER, STORED, OWN = "browser", "stored", "own"

_EVERYWHERE = ("GET {}/livez", "GET {}/healthz", "GET {}/readyz", "GET {}/metrics", "GET {}/openapi.json")
_PAGES = ("GET {}/docs", "POST {}/preferences", "GET {}/static/{{version}}/{{path:path}}")


def _common(prefix: str) -> tuple[str, ...]:
    return tuple(row.format(prefix) for row in (*_EVERYWHERE, *_PAGES))


CONTROL: dict[str, tuple[str, ...]] = {
    PUBLIC: (
        *_common(""),
        "GET /metrics/runtime-state",
        "GET /sign-in",
        "GET /sign-in/callback",
        "POST /sign-in/backchannel-logout",
        "GET /session-link/{secret}",
        "POST /sign-out",
        "POST /api/v1/agent/enrol",
        "POST /api/v1/agent/enrol/challenges",
    ),
    FORM: ("POST /sign-in",),
    AGENT: ("POST /api/v1/agent/reports/heartbeat", "WS /api/v1/agent/ws"),
    BROWSER: ("GET /step-up", "POST /step-up"),
    OWN: (
        "GET /access/tokens",
        "POST /access/tokens",
        "POST /access/tokens/{token_id}/revoke",
        "POST /access/tokens/{token_id}/rotate",
        "GET /api/v1/tokens",
        "POST /api/v1/tokens",
        "DELETE /api/v1/tokens/{token_id}",
        "POST /api/v1/tokens/{token_id}/rotate",
    ),
    Scope.FLEET_READ: (
        "GET /",
        "GET /fleet/stream",
        "GET /nodes",
        "GET /nodes/{node_id}",
        "GET /api/v1/nodes",
        "GET /api/v1/nodes/{node_id}",
        "GET /probes",
        "GET /probes/{probe_id}",
        "GET /api/v1/probes",
        "GET /api/v1/probes/{probe_id}",
        "GET /api/v1/probes/{probe_id}/stream",
        "GET /alerts",
        "GET /api/v1/alerts/incidents",
        "GET /jobs",
        "GET /api/v1/jobs",
        "GET /api/v1/jobs/dead",
    ),
    Scope.JOBS_WRITE: (
        "POST /jobs/dead/purge",
        "POST /jobs/dead/requeue",
        "POST /jobs/kinds/{kind}/start",
        "POST /api/v1/jobs/dead/purge",
        "POST /api/v1/jobs/dead/requeue",
        "POST /api/v1/jobs/kinds/{kind}/start",
    ),
    Scope.PROBES_RUN: (
        "POST /probes",
        "POST /probes/{probe_id}/cancel",
        "POST /api/v1/probes",
        "POST /api/v1/probes/{probe_id}/cancel",
    ),
    Scope.FLEET_WRITE: (
        "POST /api/v1/nodes",
        "POST /api/v1/previews",
        "GET /api/v1/previews/{preview_id}",
        "DELETE /api/v1/previews/{preview_id}",
        "GET /api/v1/previews/{preview_id}/assets/{path:path}",
        "GET /api/v1/previews/{preview_id}/configuration",
        "GET /api/v1/previews/{preview_id}/files/{path:path}",
    ),
    Scope.ACCESS_ADMIN: (
        "GET /enrolment",
        "POST /enrolment/tokens",
        "POST /enrolment/tokens/{token_id}/revoke",
        "POST /enrolment/registrations/{registration_id}/{decision}",
        "POST /nodes/{node_id}/reset-agent",
        "POST /api/v1/nodes/{node_id}/agent/reset",
        "GET /api/v1/enrolment-tokens",
        "POST /api/v1/enrolment-tokens",
        "DELETE /api/v1/enrolment-tokens/{token_id}",
        "GET /api/v1/registrations",
        "POST /api/v1/registrations/{registration_id}/approve",
        "POST /api/v1/registrations/{registration_id}/reject",
        "GET /api/v1/tokens/all",
        "POST /alerts/channels",
        "POST /alerts/channels/{channel_id}/delete",
        "POST /alerts/channels/{channel_id}/test",
        "GET /api/v1/alerts/channels",
        "GET /api/v1/alerts/deliveries",
        "POST /api/v1/alerts/channels",
        "DELETE /api/v1/alerts/channels/{channel_id}",
        "POST /api/v1/alerts/channels/{channel_id}/test",
    ),
    Scope.AUDIT_READ: ("GET /audit", "GET /api/v1/audit", "GET /api/v1/audit/export"),
    Scope.TIERS_READ: ("GET /tiers", "GET /api/v1/tiers"),
}

AUTH: dict[str, tuple[str, ...]] = {
    PUBLIC: (
        *_common("/auth"),
        "GET /auth/",
        "GET /.well-known/oauth-authorization-server/auth",
        "GET /.well-known/openid-configuration/auth",
        "GET /auth/.well-known/openid-configuration",
        "GET /auth/jwks.json",
        "GET /auth/authorize",
        "POST /auth/authorize",
        "GET /auth/logout",
        "POST /auth/logout",
        "GET /auth/sign-in",
        "POST /auth/sign-out",
        "GET /auth/recovery",
        "POST /auth/recovery",
        "GET /auth/invitations/{secret}",
        "POST /auth/api/v1/sign-in",
        "POST /auth/api/v1/sign-in/options",
        "POST /auth/api/v1/recovery",
        "POST /auth/api/v1/invitations/accept",
        "POST /auth/api/v1/invitations/accept/options",
    ),
    CLIENT: (
        "POST /auth/token",
        "POST /auth/device",
        "POST /auth/par",
        "POST /auth/introspect",
        "POST /auth/standing",
        "POST /auth/revoke",
        "GET /auth/userinfo",
        "POST /auth/userinfo",
    ),
    STORED: ("POST /auth/consent",),
    BROWSER: (
        "POST /auth/logout/confirm",
        "GET /auth/device",
        "POST /auth/device/decision",
        "GET /auth/device/done",
        "GET /auth/step-up",
        "GET /auth/account",
        "GET /auth/account/passkeys/{passkey_id}",
        "POST /auth/account/passkeys/{passkey_id}/remove",
        "POST /auth/account/passkeys/{passkey_id}/rename",
        "POST /auth/account/recovery-codes",
        "POST /auth/account/sessions/{session_id}/end",
        "POST /auth/account/sign-out-everywhere",
        "POST /auth/api/v1/step-up",
        "POST /auth/api/v1/step-up/options",
        "GET /auth/api/v1/passkeys",
        "POST /auth/api/v1/passkeys",
        "POST /auth/api/v1/passkeys/options",
        "PATCH /auth/api/v1/passkeys/{passkey_id}",
        "DELETE /auth/api/v1/passkeys/{passkey_id}",
        "GET /auth/api/v1/recovery-codes",
        "POST /auth/api/v1/recovery-codes",
        "GET /auth/api/v1/sessions",
        "DELETE /auth/api/v1/sessions",
        "DELETE /auth/api/v1/sessions/{session_id}",
    ),
    Scope.ACCESS_ADMIN: (
        "GET /auth/accounts",
        "GET /auth/accounts/{account_id}",
        "POST /auth/accounts/{account_id}",
        "POST /auth/accounts/{account_id}/sessions/end",
        "POST /auth/accounts/{account_id}/sessions/{session_id}/end",
        "POST /auth/accounts/invitations",
        "POST /auth/accounts/invitations/{invitation_id}/withdraw",
        "GET /auth/api/v1/accounts",
        "GET /auth/api/v1/accounts/{account_id}",
        "PATCH /auth/api/v1/accounts/{account_id}",
        "GET /auth/api/v1/accounts/{account_id}/sessions",
        "DELETE /auth/api/v1/accounts/{account_id}/sessions",
        "DELETE /auth/api/v1/accounts/{account_id}/sessions/{session_id}",
        "GET /auth/api/v1/clients",
        "POST /auth/api/v1/clients",
        "GET /auth/api/v1/clients/{client_id}",
        "PATCH /auth/api/v1/clients/{client_id}",
        "POST /auth/api/v1/clients/{client_id}/secret",
        "GET /auth/api/v1/invitations",
        "POST /auth/api/v1/invitations",
        "DELETE /auth/api/v1/invitations/{invitation_id}",
    ),
    Scope.AUDIT_READ: ("GET /auth/api/v1/audit",),
}

REGISTRY: dict[str, tuple[str, ...]] = {
    PUBLIC: (
        *_common("/registry"),
        "GET /registry/metrics/runtime-state",
        "GET /registry/api/v1/status",
        "GET /registry/api/v1/asn/{asn}",
        "GET /registry/api/v1/mntner/{name}",
        "GET /registry/api/v1/routes",
        "GET /registry/api/v1/identity/{asn}",
        "GET /registry/api/v1/identity/{asn}/{mntner}",
        "GET /registry/api/v1/objects/{object_class}",
        "GET /registry/api/v1/objects/{object_class}/{key:path}",
        "GET /registry/api/v1/objects/{object_class}/{key:path}/raw",
        "GET /registry/api/v1/objects/{object_class}/{key:path}/references",
        "GET /registry/api/v1/objects/{object_class}/{key:path}/history",
        "GET /registry/api/v1/objects/{object_class}/{key:path}/history/{commit}",
        "GET /registry/api/v1/prefix/{prefix:path}",
        "GET /registry/api/v1/search",
        "GET /registry/api/v1/as-set/{name}",
        "GET /registry/api/v1/problems",
        "GET /registry/rdap/autnum/{number}",
        "GET /registry/rdap/ip/{address:path}",
        "GET /registry/rdap/domain/{name}",
        "GET /registry/rdap/entity/{handle:path}",
        "GET /registry/rdap/help",
        "GET /registry/rdap/{kind}.json",
    ),
    Scope.REGISTRY_SYNC: ("POST /registry/api/v1/sync",),
}


def flat(table: dict[str, tuple[str, ...]]) -> list[tuple[str, str]]:
    """Gate and route of every row."""
    return [(str(gate), route) for gate, routes in table.items() for route in routes]
