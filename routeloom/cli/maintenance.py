"""`routeloom maintenance`: drain a node in one command, and bring it back."""

from __future__ import annotations

from typing import Annotated

import typer

from routeloom.cli.asking import AsJson, Question, Server, ask, print_json


def maintenance(
    node: Annotated[str, typer.Argument(help="The node")],
    *,
    end: Annotated[bool, typer.Option("--end", help="Bring the node back")] = False,
    reason: Annotated[str, typer.Option("--reason", help="Everybody sees it")] = "",
    server: Server = None,
    as_json: AsJson = False,
) -> None:
    """Drain a node: its neighbours are asked to use other ways until `--end`."""
    path = f"/api/v1/nodes/{node}/maintenance"
    question = Question("DELETE", path) if end else Question("PUT", path, {"reason": reason})
    answer = ask(server, question)
    if as_json:
        print_json(answer)
    elif end:
        typer.echo(f"{node} is back; generation {answer['generation']}.")
    else:
        typer.echo(f"{node} is drained; generation {answer['generation']}. Bring it back with --end.")
