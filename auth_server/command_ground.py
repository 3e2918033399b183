"""What the commands of auth_server stand on, and what a new installation needs."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

import typer
from sqlalchemy.ext.asyncio import AsyncSession

from auth_server.accounts.dependencies import account_service
from auth_server.audit.dependencies import audit_service
from auth_server.audit.service import Audit
from auth_server.clients.dependencies import FailedSecrets, client_service
from auth_server.clients.service import seed_own_clients
from auth_server.resources import AuthResources, open_resources
from auth_server.settings import AuthSettings
from auth_server.signing_keys.dependencies import make_signing_keys, opened_keys
from shared.kernel.errors import InvalidInput
from shared.kernel.principal import SYSTEM, Role
from shared.web.commands import Service, load, run

if TYPE_CHECKING:
    from fastapi import FastAPI


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


def _app(settings: AuthSettings) -> FastAPI:
    from auth_server.app import create_app  # noqa: PLC0415 - commands that serve nothing do not wait for it

    return create_app(settings)


async def _work(settings: AuthSettings) -> None:
    from auth_server.worker import work  # noqa: PLC0415 - as above

    await work(settings)


SERVICE = Service(
    name="auth",
    package="auth_server",
    load=AuthSettings,
    create_app=_app,
    work=_work,
    seed=seed,
)

Act = Callable[[AuthResources, AsyncSession, Audit], Awaitable[None]]


def act(do: Act) -> None:
    """Do it and commit, or end with the refusal's sentence."""
    settings = load(SERVICE)

    async def whole() -> None:
        try:
            async with open_resources(settings) as resources, resources.database.transaction() as session:
                await do(resources, session, audit_service(session, resources.now))
        except InvalidInput as refusal:
            for field in refusal.fields:
                typer.echo(f"{field.field}: {field.message}", err=True)
            raise

    run(whole())
