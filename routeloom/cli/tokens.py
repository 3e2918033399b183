"""`routeloom tokens`: personal access tokens of whoever the command's own token belongs to."""

from __future__ import annotations

import json
from typing import Annotated, Any

import httpx2
import typer
from rich.console import Console
from rich.table import Table

from routeloom.cli.connection import EXIT_UNREACHABLE, check, fail, find_connection
from shared.kernel import interrupts

app = typer.Typer(no_args_is_help=True, help="Personal access tokens.")

_PATH = "/api/v1/tokens"
Server = Annotated[str | None, typer.Option("--server", help="Address of the server; else ROUTELOOM_URL")]
AsJson = Annotated[bool, typer.Option("--json", help="Print the server's answer as JSON")]
TokenId = Annotated[str, typer.Argument(help="The id, as `routeloom tokens list` shows it")]


@app.command("list")
def list_tokens(
    *,
    everybody: Annotated[bool, typer.Option("--all", help="Everybody's tokens, for administrators")] = False,
    server: Server = None,
    as_json: AsJson = False,
) -> None:
    """Tokens without their secrets, newest first."""
    answer = _ask(server, "GET", f"{_PATH}/all" if everybody else _PATH)
    if as_json:
        typer.echo(json.dumps(answer, indent=2))
    else:
        Console().print(_table(answer))


@app.command("create")
def create_token(
    name: Annotated[str, typer.Argument(help="What it is for")],
    *,
    scope: Annotated[list[str], typer.Option("--scope", "-s", help="What it may do; may be repeated")],
    days: Annotated[int, typer.Option("--days", min=1, max=366, help="Days that it is good for")] = 90,
    server: Server = None,
    as_json: AsJson = False,
) -> None:
    """Make a token and print its secret, once."""
    wanted = {"name": name, "scopes": scope, "expires_in": days * 86_400}
    _show(_ask(server, "POST", _PATH, wanted), as_json=as_json)


@app.command("rotate")
def rotate_token(token_id: TokenId, *, server: Server = None, as_json: AsJson = False) -> None:
    """Replace a token of yours by a fresh one with the same name and scopes, and print its secret."""
    _show(_ask(server, "POST", f"{_PATH}/{token_id}/rotate"), as_json=as_json)


@app.command("revoke")
def revoke_token(token_id: TokenId, *, server: Server = None) -> None:
    """Make a token useless at once."""
    _ask(server, "DELETE", f"{_PATH}/{token_id}")
    typer.echo(f"{token_id} is revoked.")


def _ask(server: str | None, method: str, path: str, body: dict[str, Any] | None = None) -> Any:
    connection = find_connection(server)

    async def once() -> Any:
        async with connection.client() as client:
            return check(await client.request(method, path, json=body))

    try:
        return interrupts.run(once())
    except httpx2.TransportError:
        return fail(f"{connection.url} does not answer.", EXIT_UNREACHABLE)


def _show(created: dict[str, Any], *, as_json: bool) -> None:
    # The secret alone on standard output, so that it can be piped on.
    typer.echo(json.dumps(created, indent=2) if as_json else created["token"])
    if not as_json:
        until = (created["expires_at"] or "revoked")[:19].replace("T", " ")
        typer.echo(f"{created['token_id']} is good until {until}. It is shown once.", err=True)


def _table(items: list[dict[str, Any]]) -> Table:
    table = Table(box=None, header_style="bold", pad_edge=False)
    for heading in ("Token", "Name", "Owner", "State", "Scopes", "Good until", "Last used"):
        # An id that is cut short is good for nothing.
        table.add_column(heading, no_wrap=heading == "Token", overflow="fold")
    for item in items:
        instants = [(item[name] or "–")[:19].replace("T", " ") for name in ("expires_at", "last_used_at")]
        scopes = " ".join(item["scopes"])
        table.add_row(item["token_id"], item["name"], item["owner_name"], item["state"], scopes, *instants)
    return table
