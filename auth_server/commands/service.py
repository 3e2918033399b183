"""What the commands of auth_server run on, and what a new installation needs."""

from __future__ import annotations

from auth_server.accounts.dependencies import account_service
from auth_server.app import create_app
from auth_server.audit.dependencies import audit_service
from auth_server.clients.dependencies import FailedSecrets, client_service
from auth_server.clients.service import seed_own_clients
from auth_server.resources import AuthResources, open_resources
from auth_server.settings import AuthSettings
from auth_server.signing_keys.dependencies import make_signing_keys, opened_keys
from auth_server.worker import work
from shared.kernel.principal import SYSTEM, Role
from shared.web.commands import Service


async def seed(settings: AuthSettings) -> None:
    """Make the signing keys and register our own clients; doing it twice changes nothing."""
    async with open_resources(settings) as resources:
        await make_signing_keys(resources, opened_keys(resources))
        async with resources.database.transaction() as session:
            clients = client_service(resources, session, FailedSecrets())
            secrets = settings.state_directory / "secrets"
            await seed_own_clients(clients, settings.web.public_url, secrets)


async def make_invitation(resources: AuthResources, role: Role, note: str = "") -> str:
    """A one-time address at which somebody makes an account of this role with a passkey."""
    async with resources.database.transaction() as session:
        accounts = account_service(resources, session, audit_service(session, resources.now))
        _, secret = accounts.invite(SYSTEM, role, note)
    return accounts.link_of(secret)


async def has_administrator(resources: AuthResources) -> bool:
    """Whether somebody can administer; a new installation has nobody."""
    async with resources.database.reading() as session:
        accounts = account_service(resources, session, audit_service(session, resources.now))
        return await accounts.has_administrator()


SERVICE = Service(
    name="auth",
    package="auth_server",
    load=AuthSettings,
    create_app=create_app,
    work=work,
    seed=seed,
)
