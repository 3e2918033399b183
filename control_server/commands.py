"""The command line of control_server: `routeloom control …` and `python -m control_server …`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from control_server.resources import open_resources
from control_server.settings import ControlSettings
from control_server.ways_in import ensure_admin_token, make_session_link
from shared.web.commands import Service, commands, load, run

if TYPE_CHECKING:
    from fastapi import FastAPI


async def seed(settings: ControlSettings) -> None:
    """Make sure that the `admin-token` file holds a good token of the service principal."""
    async with open_resources(settings) as resources:
        await ensure_admin_token(resources)


def _app(settings: ControlSettings) -> FastAPI:
    from control_server.app import create_app  # noqa: PLC0415 - commands that serve nothing do not wait for it

    return create_app(settings)


async def _work(settings: ControlSettings) -> None:
    from control_server.worker import work  # noqa: PLC0415 - as above

    await work(settings)


SERVICE = Service(
    name="control",
    package="control_server",
    load=ControlSettings,
    create_app=_app,
    work=_work,
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
