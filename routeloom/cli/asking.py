"""One question to the server from a command, and answers as tables or JSON."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Annotated, Any

import httpx2
import typer
from rich.console import Console
from rich.table import Table

from routeloom.cli.connection import EXIT_UNREACHABLE, check, fail, find_connection
from shared.kernel import interrupts

Server = Annotated[str | None, typer.Option("--server", help="Address of the server; else ROUTELOOM_URL")]
AsJson = Annotated[bool, typer.Option("--json", help="Print the server's answer as JSON")]
Preview = Annotated[
    bool, typer.Option("--preview", help="Change nothing: print what would be published, with differences")
]


@dataclass(frozen=True, slots=True)
class Question:
    """A request to the API."""

    method: str
    path: str
    body: dict[str, Any] | None = None
    parameters: dict[str, str] = field(default_factory=dict)
    #: The version that was read, for what several people change.
    version: int | None = None


def ask(server: str | None, question: Question) -> Any:
    """The server's answer; ends the command with its sentence where there is none."""
    connection = find_connection(server)
    headers = {} if question.version is None else {"If-Match": f'"{question.version}"'}

    async def once() -> Any:
        async with connection.client() as client:
            answer = await client.request(
                question.method,
                question.path,
                json=question.body,
                params=question.parameters,
                headers=headers,
            )
            return check(answer)

    try:
        return interrupts.run(once())
    except httpx2.TransportError:
        return fail(f"{connection.url} does not answer.", EXIT_UNREACHABLE)


def previewed(preview: bool) -> dict[str, str]:
    """The parameter that makes a write a preview."""
    return {"preview": "true"} if preview else {}


def print_json(answer: Any) -> None:
    """The answer as it came."""
    typer.echo(json.dumps(answer, indent=2, ensure_ascii=False))


def table(*headings: str) -> Table:
    """An empty table; the first column is never cut short."""
    made = Table(box=None, header_style="bold", pad_edge=False)
    for place, heading in enumerate(headings):
        made.add_column(heading, no_wrap=place == 0, overflow="fold")
    return made


def show_preview(preview: dict[str, Any]) -> None:
    """What a change would do to each node: facts by name, then files line by line."""
    if not preview["nodes"]:
        typer.echo("Nothing would change.")
    for node in preview["nodes"]:
        typer.echo(f"{node['node_id']}: generation {node['generation']} would be published.")
        if node["unsupported"]:
            typer.echo(f"Its BIRD does not know: {', '.join(node['unsupported'])}.")
        show_changes(node["changes"], node["files"])


def show_changes(changes: list[dict[str, Any]], files: list[dict[str, Any]]) -> None:
    """Differences of facts and of rendered files."""
    if changes:
        made = table("What", "Before", "After")
        for change in changes:
            made.add_row(change["path"], short(change["before"]), short(change["after"]))
        Console(highlight=False, markup=False).print(made)
    for difference in files:
        typer.echo(difference["difference"])


def short(value: Any) -> str:
    """A value in one line."""
    if value is None:
        return "–"
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _WIDEST else f"{text[:_WIDEST]}…"


def minute(instant: str | None) -> str:
    """An instant as people read it."""
    return (instant or "–")[:16].replace("T", " ")


_WIDEST = 120
