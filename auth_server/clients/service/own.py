"""Our own clients: the portal and the command line."""

from __future__ import annotations

from pathlib import Path

from auth_server.clients.schemas import ALL_SCOPES, ClientRegistration, GrantType
from auth_server.clients.service.clients import ClientService
from auth_server.clients.store import load_or_make_secret

PORTAL = "routeloom-portal"
CLI = "routeloom-cli"


async def seed_own_clients(clients: ClientService, public_url: str, secrets: Path) -> None:
    """Register the portal and the command line; doing it twice changes nothing."""
    portal = ClientRegistration(
        client_id=PORTAL,
        name="Routeloom portal",
        first_party=True,
        redirect_uris=(f"{public_url}/sign-in/callback",),
        post_logout_redirect_uris=(f"{public_url}/",),
        backchannel_logout_uri=f"{public_url}/sign-in/backchannel-logout",
        scopes=ALL_SCOPES,
        audiences=(f"{public_url}/api",),
    )
    command_line = ClientRegistration(
        client_id=CLI,
        name="Routeloom command line",
        native=True,
        first_party=True,
        redirect_uris=("http://127.0.0.1/callback", "http://[::1]/callback"),
        grant_types=(GrantType.AUTHORIZATION_CODE, GrantType.REFRESH_TOKEN, GrantType.DEVICE_CODE),
        scopes=ALL_SCOPES,
    )
    await clients.register(portal, load_or_make_secret(secrets / "portal-client"))
    await clients.register(command_line, None)
