"""`routeloom stack`: what prepares a full installation; its containers call these."""

from __future__ import annotations

import importlib
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from shared.kernel import interrupts
from shared.kernel.errors import AppError

if TYPE_CHECKING:
    from collections.abc import Iterator

app = typer.Typer(no_args_is_help=True, help="Prepare a full installation: secrets, databases, captcha.")

_UNAVAILABLE = 69
Secrets = Annotated[Path, typer.Option(help="Directory with one directory for each container")]
Templates = Annotated[Path, typer.Option(help="Directory of the access lists")]
PublicUrl = Annotated[str, typer.Option(envvar="ROUTELOOM_PUBLIC_URL", help="The address that people use")]
_SECRETS, _TEMPLATES = Path("/secrets"), Path("/etc/routeloom/acl")


@app.command()
def init(secrets: Secrets = _SECRETS, templates: Templates = _TEMPLATES, public_url: PublicUrl = "") -> None:
    """Make every password once, and write for each container the files that it needs."""
    with _refusals():
        _write(secrets, templates, public_url)


@app.command()
def migrate() -> None:
    """Bring the three databases to this version, and print the first invitation."""
    with _refusals():
        importlib.import_module("routeloom.stack.preparation").prepare()


@app.command()
def captcha(
    site_key: Annotated[str, typer.Argument(help="As the dashboard of Cap shows it")],
    secrets: Secrets = _SECRETS,
    templates: Templates = _TEMPLATES,
    public_url: PublicUrl = "",
) -> None:
    """Ask for a captcha from now on; the secret of the site key is read from standard input."""
    if not public_url:
        raise typer.BadParameter("say it by --public-url or ROUTELOOM_PUBLIC_URL", param_hint="--public-url")
    module = importlib.import_module("routeloom.stack.passwords")
    secret = _asked_secret() if sys.stdin.isatty() else sys.stdin.readline().strip()
    with _refusals():
        path = secrets / "init" / "passwords.json"
        passwords = module.load_or_make(path)
        module.keep(path, module.Passwords(passwords.by_server, module.Captcha(site_key, secret)))
        _write(secrets, templates, public_url)
    typer.echo("Now restart auth and auth-worker.")


def _write(secrets: Path, templates: Path, public_url: str) -> None:
    passwords = importlib.import_module("routeloom.stack.passwords")
    files = importlib.import_module("routeloom.stack.files")
    place = secrets / "init"
    place.mkdir(parents=True, exist_ok=True)
    made = passwords.load_or_make(place / "passwords.json")
    written = files.write_files(secrets, templates, made, public_url)
    typer.echo(f"{len(written)} files of secrets are written.")


@contextmanager
def _refusals() -> Iterator[None]:
    try:
        yield
    except AppError as refusal:
        typer.echo(refusal.detail, err=True)
        raise typer.Exit(_UNAVAILABLE) from None
    except OSError as error:
        typer.echo(f"{error.filename or 'routeloom'}: {error.strerror or error}", err=True)
        raise typer.Exit(_UNAVAILABLE) from None


def _asked_secret() -> str:
    try:
        with interrupts.orderly():  # the terminal shows again what is typed
            return str(typer.prompt("Secret of the site key", hide_input=True, err=True))
    except typer.Abort:
        raise typer.Exit(interrupts.INTERRUPTED) from None
