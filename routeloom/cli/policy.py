"""`routeloom policy`: the facts of the whole fleet."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
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
    short,
    show_preview,
    table,
)
from routeloom.cli.connection import EXIT_USAGE, fail

app = typer.Typer(no_args_is_help=True, help="The fleet's policy.")


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


@app.command("change")
def change_policy(
    facts: Annotated[
        Path, typer.Argument(help='JSON with what to change, such as `{"inside": {…}}`; - reads')
    ],
    *,
    preview: Preview = False,
    server: Server = None,
    as_json: AsJson = False,
) -> None:
    """Merge facts into the policy (RFC 7396); everything else stays."""
    present = ask(server, Question("GET", "/api/v1/policy"))
    patch = _read(facts)
    version = present["version"]
    body = _merged({name: present[name] for name in present if name not in _NOT_FACTS}, patch)
    answer = ask(server, Question("PUT", "/api/v1/policy", body, previewed(preview), version))
    if as_json:
        print_json(answer)
    elif preview:
        show_preview(answer)
    else:
        typer.echo(f"The policy is changed; its version is {answer['version']}.")


_NOT_FACTS = frozenset({"version", "updated_at", "updated_by"})


def _read(path: Path) -> dict[str, Any]:
    try:
        found = json.loads(sys.stdin.read() if str(path) == "-" else path.read_text(encoding="utf-8"))
    except OSError as error:
        found = fail(f"{path}: {error.strerror}.", EXIT_USAGE)
    except ValueError:
        found = None
    if not isinstance(found, dict):
        found = fail(f"{path} holds no JSON object.", EXIT_USAGE)
    return dict(found)


def _merged(present: Any, patch: Any) -> Any:
    if not isinstance(patch, dict):
        return patch
    result = dict(present) if isinstance(present, dict) else {}
    for name, value in patch.items():
        if value is None:
            result.pop(name, None)
        else:
            result[name] = _merged(result.get(name), value)
    return result


def _flat(path: str, value: Any) -> Iterator[tuple[str, Any]]:
    if not isinstance(value, dict) or not value:
        yield path, value
        return
    for name, inner in value.items():
        yield from _flat(f"{path}.{name}" if path else name, inner)
