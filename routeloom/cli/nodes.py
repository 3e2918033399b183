"""`routeloom nodes`: the fleet in the terminal."""

from __future__ import annotations

import asyncio
import json
from typing import Annotated, Any

import httpx2
import typer
from rich.console import Console
from rich.table import Table

from routeloom.cli.connection import EXIT_UNREACHABLE, check, fail, find_connection

app = typer.Typer(no_args_is_help=True, help="Nodes of the fleet.")

Server = Annotated[str | None, typer.Option("--server", help="Address of the server; else ROUTELOOM_URL")]
AsJson = Annotated[bool, typer.Option("--json", help="Print the server's answer as JSON")]

_STYLES = {"online": "green", "stale": "yellow", "offline": "red", "unknown": "dim"}


@app.command("list")
def list_nodes(server: Server = None, as_json: AsJson = False) -> None:
    """Every node with its liveness, health and agent."""
    answer = fetch(server, "/api/v1/nodes")
    if as_json:
        typer.echo(json.dumps(answer, indent=2))
        return
    if not answer["items"]:
        typer.echo("No node yet. Make an enrolment token in the portal under Enrolment.")
        return
    Console().print(_table(answer["items"]))


def fetch(server: str | None, path: str) -> Any:
    """The server's answer; ends the command where there is none."""
    return asyncio.run(_get(server, path))


async def _get(server: str | None, path: str) -> Any:
    connection = find_connection(server)
    async with connection.client() as client:
        try:
            return check(await client.get(path))
        except httpx2.TransportError:
            return fail(f"{connection.url} does not answer.", EXIT_UNREACHABLE)


def _table(items: list[dict[str, Any]]) -> Table:
    table = Table(box=None, header_style="bold", pad_edge=False)
    for heading in ("Node", "Site", "Liveness", "Health", "Agent", "Last seen"):
        table.add_column(heading)
    for item in items:
        agent = item["agent"] or {}
        liveness = item["liveness"]
        table.add_row(
            item["node_id"],
            item["site"] or "–",
            f"[{_STYLES[liveness]}]{liveness}[/]",
            item["health"]["state"],
            agent.get("version", "–"),
            (agent.get("last_seen_at") or "–")[:19].replace("T", " "),
        )
    return table
