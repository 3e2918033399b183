"""`routeloom auth clients …`: the programs that people sign in to, and services that act on their own."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer
from sqlalchemy.ext.asyncio import AsyncSession

from auth_server.audit.service import Audit
from auth_server.clients.dependencies import client_administration
from auth_server.clients.errors import RegistrationRefused
from auth_server.clients.schemas import ClientChange, ClientCreate
from auth_server.clients.service.administration import shown
from auth_server.clients.service.clients import parse
from auth_server.command_ground import act
from auth_server.resources import AuthResources
from auth_server.tokens.dependencies import end_grants_with_client, parts_alone
from shared.kernel.principal import SYSTEM, Role

app = typer.Typer(no_args_is_help=True, help="Clients of sign-in: registered, changed and shut out.")

ClientId = Annotated[str, typer.Argument(help="The client's id")]
Several = Annotated[list[str] | None, typer.Option(help="May be given several times")]
KeyFile = Annotated[
    Path | None, typer.Option(exists=True, dir_okay=False, help="A JWK or JWK Set with public keys")
]


@app.command("list")
def list_clients() -> None:
    """Print every client."""

    async def do(resources: AuthResources, session: AsyncSession, audit: Audit) -> None:
        for client in await client_administration(resources, session, audit).list():
            kind = "keys" if client.public_keys else "secret" if client.secret_digest else "public"
            shut = "  shut out" if client.disabled_at else ""
            typer.echo(f"{client.id:<24} {kind:<7} {client.name}{shut}")

    act(do)


@app.command()
def show(client_id: ClientId) -> None:
    """Print a client's registration as JSON."""

    async def do(resources: AuthResources, session: AsyncSession, audit: Audit) -> None:
        client = await client_administration(resources, session, audit).get(client_id)
        typer.echo(json.dumps(shown(client), indent=2))

    act(do)


@app.command()
def add(  # noqa: PLR0913 - one option for each word of a registration
    client_id: ClientId,
    name: Annotated[str, typer.Option(help="Shown to people when they are asked")],
    *,
    redirect_uri: Several = None,
    grant: Several = None,
    scope: Several = None,
    role: Annotated[Role | None, typer.Option(help="What it may do on its own")] = None,
    keys: KeyFile = None,
    public: Annotated[bool, typer.Option("--public", help="It cannot keep a secret")] = False,
    native: Annotated[bool, typer.Option("--native", help="A program on the person's machine")] = False,
    pushed: Annotated[bool, typer.Option("--pushed", help="It pushes its requests")] = False,
    dpop: Annotated[bool, typer.Option("--dpop", help="Its tokens are bound to a key")] = False,
) -> None:
    """Register a client, and print its secret this once."""
    values: dict[str, Any] = {
        "client_id": client_id,
        "name": name,
        "redirect_uris": redirect_uri,
        "grant_types": grant,
        "scopes": scope,
        "role": role,
        "public_keys": _read_keys(keys) or None,
        "confidential": not (public or native),
        "native": native,
        "requires_pushed": pushed,
        "requires_dpop": dpop,
    }

    async def do(resources: AuthResources, session: AsyncSession, audit: Audit) -> None:
        wanted = parse(ClientCreate, {k: v for k, v in values.items() if v is not None})
        _, secret = await client_administration(resources, session, audit).create(SYSTEM, wanted)
        typer.echo(secret or f"{client_id} is registered; it has no secret.")

    act(do)


@app.command()
def change(
    client_id: ClientId,
    *,
    values: Annotated[str, typer.Option("--set", help="JSON with what changes, as `show` prints it")],
) -> None:
    """Change a registration."""

    async def do(resources: AuthResources, session: AsyncSession, audit: Audit) -> None:
        try:
            named = json.loads(values)
        except ValueError as refusal:
            raise RegistrationRefused(
                f'--set is no JSON ({refusal}). Give an object, such as {{"name": "Shop"}}.'
            ) from None
        wanted = parse(ClientChange, named)
        client = await client_administration(resources, session, audit).change(SYSTEM, client_id, wanted)
        typer.echo(json.dumps(shown(client), indent=2))

    act(do)


@app.command()
def secret(client_id: ClientId) -> None:
    """Print a fresh secret; the old one is worthless at once."""

    async def do(resources: AuthResources, session: AsyncSession, audit: Audit) -> None:
        typer.echo(await client_administration(resources, session, audit).renew_secret(SYSTEM, client_id))

    act(do)


@app.command()
def disable(client_id: ClientId) -> None:
    """Shut a client out; what it was given ends."""
    _allow(client_id, enabled=False)


@app.command()
def enable(client_id: ClientId) -> None:
    """Let a client in again; people agree anew."""
    _allow(client_id, enabled=True)


def _allow(client_id: str, *, enabled: bool) -> None:
    async def do(resources: AuthResources, session: AsyncSession, audit: Audit) -> None:
        clients = client_administration(
            resources, session, audit, [end_grants_with_client(parts_alone(resources))]
        )
        await clients.change(SYSTEM, client_id, ClientChange(enabled=enabled))
        typer.echo(f"{client_id} is {'let in' if enabled else 'shut out'}.")

    act(do)


def _read_keys(file: Path | None) -> list[Any]:
    if file is None:
        return []
    found = json.loads(file.read_text(encoding="utf-8"))
    keys: list[Any] = found["keys"] if isinstance(found, dict) and "keys" in found else [found]
    return keys
