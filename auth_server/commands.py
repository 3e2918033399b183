"""The command line of auth_server: `routeloom auth …` and `python -m auth_server …`."""

from __future__ import annotations

from typing import Annotated

import typer

from auth_server import client_commands, key_commands
from auth_server.command_ground import SERVICE, has_administrator, make_invitation, seed
from auth_server.resources import open_resources
from shared.kernel.principal import Role
from shared.web.commands import commands, load, run

__all__ = ["SERVICE", "app", "has_administrator", "main", "make_invitation", "seed"]

app = commands(SERVICE)
app.add_typer(client_commands.app, name="clients")
app.add_typer(key_commands.app, name="keys")


@app.command()
def invite(
    role: Annotated[Role, typer.Option(help="What the new account may do")] = Role.VIEWER,
    note: Annotated[str, typer.Option(help="Whom it is for, shown to administrators")] = "",
) -> None:
    """Print a one-time link that makes an account; also the way back when no administrator is left."""
    settings = load(SERVICE)

    async def make() -> None:
        async with open_resources(settings) as resources:
            typer.echo(await make_invitation(resources, role, note))

    run(make())


def main() -> None:
    """Entry point of `python -m auth_server`."""
    app(prog_name="python -m auth_server")
