"""The command line of control_server: `routeloom control …` and `python -m control_server …`."""

from __future__ import annotations

import typer

from control_server.api_tokens.repository import ApiTokenRepository
from control_server.api_tokens.service import LOCAL_ADMIN, ApiTokenService
from control_server.app import create_app
from control_server.audit.dependencies import audit_service
from control_server.operators.repository import OperatorRepository
from control_server.operators.service import OperatorService
from control_server.resources import ControlResources, open_resources
from control_server.settings import ControlSettings
from control_server.worker import work
from shared.kernel.files import read_text_loosely, write_private
from shared.web.commands import Service, commands, load, run

ADMIN_TOKEN_FILE = "admin-token"  # noqa: S105 - the name of a file


async def seed(settings: ControlSettings) -> None:
    """Make sure that the `admin-token` file holds a good token of the service principal."""
    async with open_resources(settings) as resources:
        await ensure_admin_token(resources)


async def ensure_admin_token(resources: ControlResources) -> None:
    """Write a fresh `admin-token` (0600) unless the one that is there is good."""
    path = resources.settings.state_directory / ADMIN_TOKEN_FILE
    async with resources.database.transaction() as session:
        tokens = ApiTokenService(ApiTokenRepository(session), resources.now)
        if path.exists() and await tokens.is_good(read_text_loosely(path)):
            return
        audit = audit_service(session, resources.now)
        text = await tokens.replace(LOCAL_ADMIN, "admin-token file", audit)
        write_private(path, text)


async def make_session_link(resources: ControlResources) -> str:
    """A one-time address that signs this host's operator in."""
    async with resources.database.transaction() as session:
        operators = OperatorService(
            OperatorRepository(session),
            audit_service(session, resources.now),
            resources.settings.sessions,
            resources.now,
        )
        secret = await operators.make_link()
    return f"{resources.settings.web.public_url}/session-link/{secret}"


SERVICE = Service(
    name="control",
    package="control_server",
    load=ControlSettings,
    create_app=create_app,
    work=work,
    seed=seed,
)
app = commands(SERVICE)


@app.command("session-link")
def session_link() -> None:
    """Print a one-time link that signs this host's operator in; good for minutes."""
    settings = load(SERVICE)

    async def make() -> None:
        async with open_resources(settings) as resources:
            typer.echo(await make_session_link(resources))

    run(make())


def main() -> None:
    """Entry point of `python -m control_server`."""
    app(prog_name="python -m control_server")
