"""`routeloom`: the one command. Services are imported only when asked for, so that help is quick."""

from __future__ import annotations

import gc
import importlib
from pathlib import Path
from typing import Annotated, Literal

import typer

from routeloom.cli.late import LateCommands
from routeloom.cli.services import delegate
from shared import __version__

app = typer.Typer(
    cls=LateCommands,
    no_args_is_help=True,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    help="The control plane for fleets of BGP routers joined by tunnels.",
)
_PASS_ON = {"allow_extra_args": True, "ignore_unknown_options": True, "help_option_names": []}


@app.command(context_settings=_PASS_ON)
def control(context: typer.Context) -> None:
    """The fleet service: serve, work, migrate, seed, session-link."""
    delegate(context, "control")


@app.command(context_settings=_PASS_ON)
def auth(context: typer.Context) -> None:
    """The sign-in service: serve, work, migrate, seed, invite."""
    delegate(context, "auth")


@app.command(context_settings=_PASS_ON)
def registry(context: typer.Context) -> None:
    """The registry: serve, work, migrate, seed, generate, sync, check; search, show, routes, prefix."""
    commands = importlib.import_module("registry_server.commands")
    importlib.import_module("routeloom.cli.registry").join(commands.app)
    delegate(context, "registry")


@app.command(context_settings=_PASS_ON)
def agent(context: typer.Context) -> None:
    """The agent of a router: run, enrol, doctor, pause, resume."""
    program = importlib.import_module("node_agent.program")
    raise typer.Exit(program.main(context.args, "routeloom agent"))


@app.command()
def lite(
    port: Annotated[int, typer.Option(envvar="PORT", min=0, max=65535, help="Port on loopback")] = 8420,
    home: Annotated[
        Path | None, typer.Option(envvar="ROUTELOOM_HOME", help="State directory, created if missing")
    ] = None,
    log_level: Annotated[
        Literal["DEBUG", "INFO", "WARNING", "ERROR"],
        typer.Option(envvar="ROUTELOOM_LOG_LEVEL", help="Least level to log", case_sensitive=False),
    ] = "WARNING",
    public_url: Annotated[
        str, typer.Option(envvar="PUBLIC_URL", help="Address of the TLS proxy in front, if there is one")
    ] = "",
) -> None:
    """Run the three services in one process with sample data and a local agent."""
    gc.disable()  # What imports make stays; looking for waste in it costs a tenth of the start.
    importlib.import_module("routeloom.lite.later_models").build_models_when_used()
    runner = importlib.import_module("routeloom.lite.runner")
    runner.run_lite(port=port, home=home, log_level=log_level, public_url=public_url)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"routeloom {__version__}")
        raise typer.Exit


@app.callback()
def options(
    _version_flag: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version")
    ] = False,
) -> None:
    """Options of the whole command."""
