"""`routeloom generations`: what was published for a node, and the way back."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.console import Console

from routeloom.cli.asking import (
    AsJson,
    Preview,
    Question,
    Server,
    ask,
    minute,
    previewed,
    print_json,
    show_changes,
    show_preview,
    table,
)

app = typer.Typer(no_args_is_help=True, help="What was published for nodes.")

Node = Annotated[str, typer.Argument(help="The node")]
Number = Annotated[int, typer.Argument(min=1, help="The generation")]


@app.command("list")
def list_generations(
    node: Node,
    *,
    before: Annotated[int | None, typer.Option("--before", min=1, help="Only older ones")] = None,
    server: Server = None,
    as_json: AsJson = False,
) -> None:
    """Generations of a node, newest first, with who and why."""
    parameters = {} if before is None else {"before": str(before)}
    answer = ask(server, Question("GET", _path(node), parameters=parameters))
    if as_json:
        print_json(answer)
        return
    if not answer["items"]:
        typer.echo(f"Nothing is published for {node} yet.")
        return
    made = table("Generation", "Made", "Who", "Why", "Changes")
    for item in answer["items"]:
        about = (minute(item["created_at"]), item["actor_name"], item["reason"])
        made.add_row(str(item["number"]), *about, str(len(item["changes"])))
    Console(highlight=False).print(made)
    if answer["next_before"]:
        typer.echo(f"Older ones: --before {answer['next_before']}")


@app.command("show")
def show_generation(node: Node, number: Number, *, server: Server = None, as_json: AsJson = False) -> None:
    """The files of a generation as the node's BIRD gets them; JSON has its whole state."""
    path = f"{_path(node)}/{number}"
    if as_json:
        print_json(ask(server, Question("GET", path)))
        return
    rendered = ask(server, Question("GET", f"{path}/files"))
    for name, text in sorted(rendered["files"].items()):
        typer.echo(f"# {name}\n{text}")


@app.command("diff")
def compare_generations(
    node: Node,
    number: Number,
    *,
    against: Annotated[int | None, typer.Option("--against", min=1, help="By default the one before")] = None,
    server: Server = None,
    as_json: AsJson = False,
) -> None:
    """How a generation differs from another, in meaning and in files."""
    parameters = {} if against is None else {"against": str(against)}
    answer = ask(server, Question("GET", f"{_path(node)}/{number}/diff", parameters=parameters))
    if as_json:
        print_json(answer)
    elif not answer["changes"] and not answer["files"]:
        typer.echo("They are the same.")
    else:
        show_changes(answer["changes"], answer["files"])


@app.command("rollback")
def roll_back(
    node: Node, number: Number, *, preview: Preview = False, server: Server = None, as_json: AsJson = False
) -> None:
    """Write the facts of a generation back, and publish them as a new one."""
    answer = ask(server, Question("POST", f"{_path(node)}/{number}/rollback", parameters=previewed(preview)))
    if as_json:
        print_json(answer)
    elif preview:
        show_preview(answer)
    else:
        typer.echo(f"{node} goes back to generation {number}; its newest is now {answer['generation']}.")


def _path(node: str) -> str:
    return f"/api/v1/nodes/{node}/generations"
