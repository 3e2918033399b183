"""`routeloom nodes`: the fleet in the terminal."""

from __future__ import annotations

import json
from typing import Annotated, Any

import httpx2
import typer
from rich.console import Console
from rich.table import Table

from routeloom.cli.asking import Question, ask, print_json
from routeloom.cli.connection import EXIT_UNREACHABLE, EXIT_USAGE, check, fail, find_connection
from routeloom.cli.node_facts import app
from shared.kernel import interrupts

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
        typer.echo("No node yet. Add one with `routeloom nodes add`, or enrol an agent.")
        return
    Console().print(_table(answer["items"]))


@app.command("label")
def label_node(
    node: Annotated[str, typer.Argument(help="The node")],
    labels: Annotated[
        list[str], typer.Argument(help="`name=value` sets a label, `name-` takes it away", metavar="LABEL…")
    ],
    *,
    server: Server = None,
    as_json: AsJson = False,
) -> None:
    """Set labels of a node, or take them away; all others stay."""
    facts = ask(server, Question("GET", f"/api/v1/nodes/{node}/facts"))
    wanted = dict(facts["labels"])
    for text in labels:
        name, equals, value = text.partition("=")
        if equals:
            wanted[name] = value
        elif text.endswith("-"):
            wanted.pop(text[:-1], None)
        else:
            fail(f"{text}: write `name=value`, or `name-` to take it away.", EXIT_USAGE)
    question = Question("PATCH", f"/api/v1/nodes/{node}", {"labels": wanted}, version=facts["version"])
    answer = ask(server, question)
    if as_json:
        print_json(answer)
    else:
        told = ", ".join(f"{name}={value}" for name, value in sorted(answer["labels"].items()))
        typer.echo(f"{node}: {told or 'no labels'}")


def fetch(server: str | None, path: str) -> Any:
    """The server's answer; ends the command where there is none."""
    return interrupts.run(_get(server, path))


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
