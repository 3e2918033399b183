"""The same four verbs in every service: serve, work, migrate, seed."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Annotated, Any, Generic, NoReturn, Protocol, TypeVar

import typer
from fastapi import FastAPI
from pydantic import ValidationError
from sqlalchemy.exc import OperationalError

from shared.database import Database, DatabaseSettings, open_database
from shared.database.migrations import current_revision, head_revision, upgrade
from shared.kernel import interrupts
from shared.kernel.errors import AppError
from shared.runtime_state import RuntimeStateConfigurationError
from shared.web.app import go_away
from shared.web.logs import configure_logs
from shared.web.runtime_state import check_start
from shared.web.server import Server, look_for_waste_seldom, server_config
from shared.web.settings import WebSettings
from shared.web.workers import (
    Supervisor,
    WorkersNeedKv,
    check_workers,
    ending_with_parent,
    inherited_listener,
    worker_command,
)

#: Exit statuses (sysexits.h): a configuration that cannot work; something needed is not there now.
EXIT_CONFIGURATION = 78
EXIT_UNAVAILABLE = 69


class ServiceSettings(Protocol):
    """What the verbs need to know of a service's settings."""

    @property
    def web(self) -> WebSettings:
        """How it is reached."""

    @property
    def database(self) -> DatabaseSettings:
        """Where its facts are."""


S = TypeVar("S", bound=ServiceSettings)


class SchemaBehind(AppError):
    """The database's schema is not that of this version."""

    code = "schema_behind"


@dataclass(frozen=True, slots=True)
class Service(Generic[S]):
    """A service as the command line sees it."""

    name: str
    package: str
    load: Callable[[], S]
    create_app: Callable[[S], FastAPI]
    #: Runs the background work of a worker process until it is cancelled.
    work: Callable[[S], Awaitable[None]]
    #: Writes what a new installation needs; doing it twice changes nothing.
    seed: Callable[[S], Awaitable[None]]


def commands(service: Service[Any]) -> typer.Typer:
    """The four verbs of a service."""
    app = typer.Typer(no_args_is_help=True, help=f"The {service.name} service.")

    @app.command()
    def serve(
        workers: Annotated[
            int | None, typer.Option(min=1, max=64, help="Processes on this host; else WEB__WORKERS")
        ] = None,
    ) -> None:
        """Serve HTTP until told to stop."""
        settings = load(service)
        if workers is not None:
            settings = settings.model_copy(
                update={"web": settings.web.model_copy(update={"workers": workers})}
            )
        run(_serve(service, settings), serving=True)

    @app.command()
    def work() -> None:
        """Run background work until told to stop."""
        settings = load(service)
        run(service.work(settings))

    @app.command()
    def migrate() -> None:
        """Bring the database's schema to this version."""
        settings = load(service)
        run(_migrate(service, settings))
        typer.echo(f"{service.name}: schema is at {head_revision(service.package)}")

    @app.command()
    def seed() -> None:
        """Write what a new installation needs; doing it twice changes nothing."""
        settings = load(service)
        run(service.seed(settings))

    return app


def load(service: Service[S]) -> S:
    """The settings; ends the process with a sentence for each value that is wrong."""
    try:
        settings = service.load()
    except ValidationError as error:
        for item in error.errors():
            place = ".".join(str(part) for part in item["loc"]) or "settings"
            message = item["msg"].removeprefix("Value error, ")
            typer.echo(f"{service.name}: setting {place}: {message}", err=True)
        raise typer.Exit(EXIT_CONFIGURATION) from None
    configure_logs(level=settings.web.log_level, form=settings.web.log_format)
    return settings


def run(work: Awaitable[None], *, serving: bool = False) -> None:
    """Run to the end; a refusal becomes one sentence and an exit status."""

    async def whole() -> None:
        await work

    try:
        # A loop is chosen here or never: uvicorn's own choice comes too late for one that runs already.
        interrupts.run(whole(), _serving_loop if serving else None)
    except WorkersNeedKv as refusal:
        typer.echo(refusal.detail, err=True)
        raise typer.Exit(EXIT_CONFIGURATION) from None
    except AppError as refusal:
        stop(refusal)
    except RuntimeStateConfigurationError as refusal:
        typer.echo(str(refusal), err=True)
        raise typer.Exit(EXIT_CONFIGURATION) from None
    except OperationalError as error:  # such as a full disk: what was not committed is as it was
        typer.echo(f"The database does not work: {error.orig}.", err=True)
        raise typer.Exit(EXIT_UNAVAILABLE) from None
    except OSError as error:
        typer.echo(f"{error.filename or 'routeloom'}: {error.strerror or error}", err=True)
        raise typer.Exit(EXIT_UNAVAILABLE) from None
    except KeyboardInterrupt:
        raise typer.Exit(interrupts.INTERRUPTED) from None


def _serving_loop() -> asyncio.AbstractEventLoop:
    import uvloop  # noqa: PLC0415 - commands that serve nothing do not pay for it

    return uvloop.new_event_loop()


def stop(refusal: AppError) -> NoReturn:
    """End the process with the refusal's sentence."""
    typer.echo(refusal.detail, err=True)
    raise typer.Exit(EXIT_UNAVAILABLE)


async def _migrate(service: Service[S], settings: S) -> None:
    database = open_database(settings.database)
    try:
        await upgrade(database, service.package)
    finally:
        await database.close()


async def check_schema(database: Database, package: str) -> None:
    """Raises SchemaBehind unless the database is at the newest revision this version knows."""
    found, wanted = await current_revision(database), head_revision(package)
    if found != wanted:
        raise SchemaBehind(
            f"The database is at revision {found or 'none'}, this version needs {wanted}."
            f" Run `python -m {package} migrate` first."
        )


async def _serve(service: Service[S], settings: S) -> None:
    check_workers(settings)
    check_start(settings)
    database = open_database(settings.database)
    try:
        await check_schema(database, service.package)
    finally:
        await database.close()
    listener = inherited_listener()
    if listener is None and settings.web.workers > 1:
        command = worker_command(service.package, settings.web.workers)
        if status := await Supervisor(command, settings.web).run():
            raise typer.Exit(status)
        return
    app = service.create_app(settings)
    server = Server(server_config(app, settings.web), lambda: go_away(app))
    look_for_waste_seldom()
    with ending_with_parent(server.stop):
        await server.serve(sockets=[listener] if listener else None)
