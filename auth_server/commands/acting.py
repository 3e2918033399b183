"""What a command of the host does: in one transaction, as the host itself."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import typer
from sqlalchemy.ext.asyncio import AsyncSession

from auth_server.audit.dependencies import audit_service
from auth_server.audit.service import Audit
from auth_server.commands.service import SERVICE
from auth_server.resources import AuthResources, open_resources
from shared.kernel.errors import InvalidInput
from shared.web.commands import load, run

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
