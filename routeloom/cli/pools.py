"""`routeloom pools`: what nodes and tunnels are given."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.console import Console

from routeloom.cli.asking import AsJson, Question, Server, ask, minute, print_json, table

app = typer.Typer(no_args_is_help=True, help="Pools of loopbacks, ports and numbers.")

_PATH = "/api/v1/pools"
Name = Annotated[str, typer.Argument(help="The pool")]


@app.command("list")
def list_pools(*, server: Server = None, as_json: AsJson = False) -> None:
    """Every pool, and how much of it is given out."""
    answer = ask(server, Question("GET", _PATH))
    if as_json:
        print_json(answer)
        return
    made = table("Pool", "Gives out", "Range", "Given out", "Size")
    for item in answer["items"]:
        made.add_row(item["name"], item["kind"], item["range"], str(item["used"]), str(item["size"]))
    Console(highlight=False).print(made)


@app.command("show")
def show_pool(name: Name, *, server: Server = None, as_json: AsJson = False) -> None:
    """What a pool has given out, and to whom."""
    answer = ask(server, Question("GET", f"{_PATH}/{name}/allocations"))
    if as_json:
        print_json(answer)
        return
    made = table("Value", "Holder", "On node", "Since")
    for item in answer["items"]:
        made.add_row(item["value"], item["holder"], item["scope"] or "–", minute(item["created_at"]))
    Console(highlight=False).print(made)


@app.command("add")
def add_pool(
    name: Name,
    kind: Annotated[str, typer.Argument(help="`loopback4`, `loopback6`, `wireguard_port` or `node_number`")],
    extent: Annotated[
        str, typer.Argument(metavar="RANGE", help="A network, or two numbers such as 51820-51999")
    ],
    *,
    server: Server = None,
    as_json: AsJson = False,
) -> None:
    """Add a pool."""
    answer = ask(server, Question("POST", _PATH, {"name": name, "kind": kind, "range": extent}))
    if as_json:
        print_json(answer)
    else:
        typer.echo(f"{name} gives out {answer['size']} values.")


@app.command("change")
def change_pool(
    name: Name,
    extent: Annotated[str, typer.Argument(metavar="RANGE", help="Everything given out must stay inside")],
    *,
    server: Server = None,
    as_json: AsJson = False,
) -> None:
    """Give a pool another range."""
    version = ask(server, Question("GET", f"{_PATH}/{name}"))["version"]
    answer = ask(server, Question("PATCH", f"{_PATH}/{name}", {"range": extent}, version=version))
    if as_json:
        print_json(answer)
    else:
        typer.echo(f"{name} gives out {answer['size']} values, {answer['used']} are given out.")


@app.command("delete")
def delete_pool(name: Name, *, server: Server = None) -> None:
    """Remove a pool of which nothing is given out."""
    ask(server, Question("DELETE", f"{_PATH}/{name}"))
    typer.echo(f"{name} is deleted.")
