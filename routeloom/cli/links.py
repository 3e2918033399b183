"""`routeloom links`: tunnels between own nodes."""

from __future__ import annotations

from typing import Annotated, Any

import typer
from rich.console import Console

from routeloom.cli.asking import (
    AsJson,
    Preview,
    Question,
    Server,
    ask,
    previewed,
    print_json,
    show_preview,
    table,
)
from routeloom.cli.connection import EXIT_USAGE, fail

app = typer.Typer(no_args_is_help=True, help="Links between own nodes.")

_PATH = "/api/v1/links"
Ident = Annotated[str, typer.Argument(help="The id, as `routeloom links list` shows it")]


@app.command("list")
def list_links(
    node: Annotated[str | None, typer.Option("--node", help="Only those of this node")] = None,
    server: Server = None,
    as_json: AsJson = False,
) -> None:
    """Links by their ends."""
    answer = ask(server, Question("GET", _PATH, parameters={"node_id": node} if node else {}))
    if as_json:
        print_json(answer)
        return
    if not answer["items"]:
        typer.echo("No link yet. Add one with `routeloom links add`.")
        return
    made = table("Id", "Node", "Node", "Kind", "Enabled", "Cost", "MTU")
    for item in answer["items"]:
        switch = "yes" if item["enabled"] else "no"
        ends = (item["node_a"], item["node_b"], item["kind"])
        made.add_row(item["id"], *ends, switch, str(item["cost"]), str(item["mtu"]))
    Console(highlight=False).print(made)


@app.command("add")
def add_link(  # noqa: PLR0913 - the options of the command
    one: Annotated[str, typer.Argument(help="A node")],
    other: Annotated[str, typer.Argument(help="Another node")],
    *,
    cost: Annotated[int, typer.Option("--cost", help="For the interior protocol")] = 20,
    preview: Preview = False,
    server: Server = None,
    as_json: AsJson = False,
) -> None:
    """Join two nodes by a WireGuard tunnel."""
    body = {"node_a": one, "node_b": other, "cost": cost}
    answer = ask(server, Question("POST", _PATH, body, previewed(preview)))
    _tell(answer, preview, as_json, lambda: typer.echo(answer["id"]))


@app.command("change")
def change_link(  # noqa: PLR0913 - the options of the command
    ident: Ident,
    *,
    enabled: Annotated[bool | None, typer.Option("--enable/--disable")] = None,
    cost: Annotated[int | None, typer.Option("--cost", help="For the interior protocol")] = None,
    mtu: Annotated[int | None, typer.Option("--mtu")] = None,
    preview: Preview = False,
    server: Server = None,
    as_json: AsJson = False,
) -> None:
    """Change what is named; everything else stays."""
    link = {name: value for name, value in (("cost", cost), ("mtu", mtu)) if value is not None}
    body: dict[str, Any] = {"link": link} if link else {}
    if enabled is not None:
        body["enabled"] = enabled
    if not body:
        fail("Name what to change; `--help` lists it.", EXIT_USAGE)
    version = ask(server, Question("GET", f"{_PATH}/{ident}"))["version"]
    answer = ask(server, Question("PATCH", f"{_PATH}/{ident}", body, previewed(preview), version))
    _tell(answer, preview, as_json, lambda: typer.echo(f"{ident} is changed."))


@app.command("delete")
def delete_link(
    ident: Ident, *, preview: Preview = False, server: Server = None, as_json: AsJson = False
) -> None:
    """Part two nodes."""
    answer = ask(server, Question("DELETE", f"{_PATH}/{ident}", parameters=previewed(preview)))
    _tell(answer, preview, as_json, lambda: typer.echo(f"{ident} is deleted."))


def _tell(answer: Any, preview: bool, as_json: bool, done: Any) -> None:
    if as_json:
        print_json(answer)
    elif preview:
        show_preview(answer)
    else:
        done()
