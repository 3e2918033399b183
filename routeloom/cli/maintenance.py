"""`routeloom maintenance`: drain a node in one command, and bring it back."""

from __future__ import annotations

import time
from typing import Annotated

import typer

from routeloom.cli.asking import AsJson, Question, Server, ask, print_json
from routeloom.cli.connection import EXIT_REFUSED, fail

_PAUSE_SECONDS = 1.0


app = typer.Typer()


@app.command("maintenance")
def maintenance(  # noqa: PLR0913 - the options of the command
    node: Annotated[str, typer.Argument(help="The node")],
    *,
    end: Annotated[bool, typer.Option("--end", help="Bring the node back")] = False,
    reason: Annotated[str, typer.Option("--reason", help="Everybody sees it")] = "",
    wait: Annotated[
        int, typer.Option("--wait", min=0, max=3600, help="Wait so many seconds until the node runs it")
    ] = 0,
    server: Server = None,
    as_json: AsJson = False,
) -> None:
    """Drain a node: its neighbours are asked to use other ways until `--end`."""
    path = f"/api/v1/nodes/{node}/maintenance"
    question = Question("DELETE", path) if end else Question("PUT", path, {"reason": reason})
    answer = ask(server, question)
    if wait and answer["generation"]:
        _await(server, node, answer["generation"], wait)
    if as_json:
        print_json(answer)
    elif end:
        typer.echo(f"{node} is back; generation {answer['generation']}.")
    else:
        typer.echo(f"{node} is drained; generation {answer['generation']}. Bring it back with --end.")


def _await(server: str | None, node: str, generation: int, seconds: int) -> None:
    """Until the node says that it runs the generation, or a newer one; ends the command where it does not."""
    ends = time.monotonic() + seconds
    while True:
        applied = ask(server, Question("GET", f"/api/v1/nodes/{node}"))["generation"]["applied"]
        if applied is not None and applied >= generation:
            return
        if time.monotonic() >= ends:
            said = "nothing yet" if applied is None else f"generation {applied}"
            fail(f"{node} runs {said}, not generation {generation}, after {seconds} s.", EXIT_REFUSED)
        time.sleep(_PAUSE_SECONDS)
