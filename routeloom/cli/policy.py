"""`routeloom policy`: the facts of the whole fleet."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import typer
from rich.console import Console

from routeloom.cli.asking import AsJson, Question, Server, ask, print_json, short, table

app = typer.Typer(no_args_is_help=True, help="The fleet's policy.")


@app.callback()
def policy() -> None:
    """Keeps `show` a command of its own."""


@app.command("show")
def show_policy(*, server: Server = None, as_json: AsJson = False) -> None:
    """What is routed with others, and how the nodes speak among themselves."""
    answer = ask(server, Question("GET", "/api/v1/policy"))
    if as_json:
        print_json(answer)
        return
    made = table("Fact", "Value")
    for name, value in _flat("", answer):
        made.add_row(name, short(value))
    Console(highlight=False, markup=False).print(made)


def _flat(path: str, value: Any) -> Iterator[tuple[str, Any]]:
    if not isinstance(value, dict) or not value:
        yield path, value
        return
    for name, inner in value.items():
        yield from _flat(f"{path}.{name}" if path else name, inner)
