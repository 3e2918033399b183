"""`routeloom registry search`, `show`, …: what the registry says, asked of a server. It needs no token."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Annotated, Any
from urllib.parse import quote

import httpx2
import typer
from rich.console import Console
from rich.table import Table

from routeloom.cli.connection import EXIT_UNREACHABLE, check, fail, find_server

app = typer.Typer()

_API = "/registry/api/v1"
_SECONDS = 30
Server = Annotated[str | None, typer.Option("--server", help="Address of the server; else ROUTELOOM_URL")]
AsJson = Annotated[bool, typer.Option("--json", help="Print the server's answer as JSON")]
Limit = Annotated[int, typer.Option("--limit", min=1, max=200, help="Most rows")]
ObjectClass = Annotated[str, typer.Argument(metavar="CLASS", help="Such as aut-num or route6")]
Key = Annotated[str, typer.Argument(help="Such as AS4242429901 or 172.20.0.0/24, in any case")]


def join(commands: typer.Typer) -> None:
    """Stand beside the service's own commands."""
    known = commands.registered_commands
    known += [each for each in app.registered_commands if each not in known]


@app.command("search")
def search(
    words: Annotated[list[str], typer.Argument(help="Words of the key or the text")],
    object_class: Annotated[
        list[str] | None, typer.Option("--class", help="Only this class; may be given again")
    ] = None,
    limit: Limit = 50,
    server: Server = None,
    as_json: AsJson = False,
) -> None:
    """Find objects whose key or text has every word, best first."""
    asked = {"q": " ".join(words), "limit": limit, "class": object_class or []}
    answer = _ask(server, "/search", asked)
    rows = [(hit["object_class"], hit["key"], hit["title"]) for hit in answer["items"]]
    _show(answer, as_json, ("Class", "Key", "Name"), rows, "Nothing found.")


@app.command("show")
def show(object_class: ObjectClass, key: Key, server: Server = None, as_json: AsJson = False) -> None:
    """Print an object as the registry has it; with --json what it names, who names it, and its problems."""
    path = f"/objects/{quote(object_class)}/{quote(key)}"
    if as_json:
        typer.echo(json.dumps(_ask(server, path), indent=2, ensure_ascii=False))
        return
    typer.echo(_fetch(server, f"{path}/raw").content, nl=False)


@app.command("routes")
def routes(
    origin: Annotated[str, typer.Argument(help="Such as AS4242429901")],
    server: Server = None,
    as_json: AsJson = False,
) -> None:
    """List the prefixes that an AS may originate."""
    answer = _ask(server, "/routes", {"origin": origin})
    rows = [
        (route["prefix"], str(route["max_length"] or "–"), " ".join(route["mnt_by"]))
        for route in answer["routes"]
    ]
    _show(answer, as_json, ("Prefix", "Longest", "Maintainers"), rows, "No routes.")


@app.command("prefix")
def prefix(
    block: Annotated[str, typer.Argument(metavar="PREFIX", help="A prefix or an address")],
    match: Annotated[str, typer.Option(help="`longest`, `exact`, `covering` or `more-specific`")] = "longest",
    limit: Limit = 100,
    server: Server = None,
    as_json: AsJson = False,
) -> None:
    """Show the networks and routes around a prefix."""
    answer = _ask(server, f"/prefix/{quote(block)}", {"match": match, "limit": limit})
    rows = [
        (
            item["object_class"],
            item["prefix"],
            " ".join(f"AS{origin}" for origin in item["origins"]) or item["netname"] or "–",
            " ".join(item["mnt_by"]),
        )
        for item in answer["items"]
    ]
    heads = ("Class", "Prefix", "Origin or name", "Maintainers")
    _show(answer, as_json, heads, rows, "Not in the registry.")


@app.command("as-set")
def as_set(
    name: Annotated[str, typer.Argument(help="Such as AS-FOO")],
    server: Server = None,
    as_json: AsJson = False,
) -> None:
    """Print every AS number in an as-set and in the sets that it contains."""
    answer = _ask(server, f"/as-set/{quote(name)}")
    if as_json:
        typer.echo(json.dumps(answer, indent=2))
        return
    typer.echo("\n".join(f"AS{number}" for number in answer["asns"]))


@app.command("connection")
def connection(
    start: Annotated[str, typer.Argument(metavar="CLASS/KEY", help="Such as route/172.20.0.0/24")],
    goal: Annotated[str, typer.Argument(metavar="CLASS/KEY", help="Such as mntner/FOO-MNT")],
    server: Server = None,
    as_json: AsJson = False,
) -> None:
    """Show how two objects belong together: the shortest chain of names between them."""
    (from_class, _, from_key), (to_class, _, to_key) = start.partition("/"), goal.partition("/")
    ends = {"from_class": from_class, "from_key": from_key, "to_class": to_class, "to_key": to_key}
    answer = _ask(server, "/connection", ends)
    rows = [
        (step["object_class"], step["key"], _leads_by(step["attribute"], step["named_by"]))
        for step in answer["steps"]
    ]
    _show(answer, as_json, ("Class", "Key", "By"), rows, "No connection.")


def _leads_by(attribute: str | None, named_by: str | None) -> str:
    if attribute is None:
        return "–"
    return f"{attribute} of the one above" if named_by == "before" else f"its {attribute}"


@app.command("problems")
def problems(
    code: Annotated[str | None, typer.Option(help="Only this code")] = None,
    severity: Annotated[str | None, typer.Option(help="`error`, `warning` or `notice`")] = None,
    limit: Limit = 200,
    server: Server = None,
    as_json: AsJson = False,
) -> None:
    """List what is wrong with files of the registry that the server mirrors."""
    asked = {name: value for name, value in (("code", code), ("severity", severity)) if value}
    answer = _ask(server, "/problems", {**asked, "limit": limit})
    if as_json:
        typer.echo(json.dumps(answer, indent=2, ensure_ascii=False))
        return
    for item in answer["items"]:
        place = item["path"] if item["line"] is None else f"{item['path']}:{item['line']}"
        typer.echo(f"{place}: {item['severity']}: {item['detail']} [{item['code']}]")


@app.command("schema")
def schema(
    object_class: Annotated[
        str | None, typer.Argument(metavar="[CLASS]", help="Such as aut-num; without it, every class")
    ] = None,
    server: Server = None,
    as_json: AsJson = False,
) -> None:
    """Show what objects of a class are made of, by the registry's own schema."""
    if object_class is None:
        answer = _ask(server, "/schema")
        classes = [
            (each["object_class"], each["primary_key"], each["schema_key"] or "–") for each in answer["items"]
        ]
        _show(answer, as_json, ("Class", "Key", "Schema"), classes, "No classes.")
        return
    answer = _ask(server, f"/schema/{quote(object_class)}")
    rows = [
        (
            rule["name"],
            rule["presence"],
            "single" if rule["single"] else "multiple",
            " ".join(rule["lookup"]) or "–",
            rule["form"] or "–",
        )
        for rule in answer["attributes"]
    ]
    _show(answer, as_json, ("Attribute", "Presence", "Times", "Names", "Written"), rows, "No attributes.")


@app.command("may")
def may(
    mntner: Annotated[str, typer.Argument(metavar="MNTNER", help="Such as FOO-MNT")],
    object_class: ObjectClass,
    key: Key,
    server: Server = None,
    as_json: AsJson = False,
) -> None:
    """Ask whether a maintainer may change an object, or add it; exit status 1 where not."""
    answer = _ask(server, f"/policy/{quote(object_class)}/{quote(key)}", {"mntner": mntner})
    verdict = answer["changes"][0]
    if as_json:
        typer.echo(json.dumps(answer, indent=2, ensure_ascii=False))
    elif answer["allowed"]:
        typer.echo(f"{mntner} may {verdict['action']} {verdict['object_class']} {verdict['key']}.")
    for objection in verdict["objections"] if not as_json else ():
        typer.echo(f"{_plain(objection['detail'])} [{objection['code']}]")
    if not answer["allowed"]:
        raise typer.Exit(1)


@app.command("history")
def history(
    object_class: ObjectClass,
    key: Key,
    commit: Annotated[str | None, typer.Option(help="Show what this commit did")] = None,
    server: Server = None,
    as_json: AsJson = False,
) -> None:
    """List who changed an object and when, newest first; or show one change."""
    path = f"/objects/{quote(object_class)}/{quote(key)}/history"
    if commit is not None:
        answer = _ask(server, f"{path}/{quote(commit)}")
        shown = json.dumps(answer, indent=2, ensure_ascii=False) if as_json else answer["diff"]
        typer.echo(shown, nl=as_json)
        return
    answer = _ask(server, path)
    rows = [
        (
            _minute(item["authored_at"]),
            item["kind"],
            item["commit"][:12],
            item["author"],
            item["summary"],
        )
        for item in answer["items"]
    ]
    _show(answer, as_json, ("When", "What", "Commit", "Who", "Summary"), rows, "No history.")


def _show(
    answer: Any, as_json: bool, heads: tuple[str, ...], rows: Sequence[tuple[str, ...]], nothing: str
) -> None:
    if as_json:
        typer.echo(json.dumps(answer, indent=2, ensure_ascii=False))
        return
    if not rows:
        typer.echo(nothing)
        return
    table = Table(box=None, header_style="bold", pad_edge=False)
    for head in heads:
        table.add_column(head)
    for row in rows:
        table.add_row(*(_plain(cell) for cell in row))
    Console(markup=False, highlight=False).print(table)


def _minute(at: str) -> str:
    return at[:16].replace("T", " ")


def _plain(text: str) -> str:
    """What strangers wrote, without what a terminal would obey."""
    return "".join(each if each.isprintable() else "\N{REPLACEMENT CHARACTER}" for each in text)


def _ask(server: str | None, path: str, parameters: dict[str, Any] | None = None) -> Any:
    return check(_fetch(server, path, parameters))


def _fetch(server: str | None, path: str, parameters: dict[str, Any] | None = None) -> httpx2.Response:
    url = find_server(server)
    try:
        answer = httpx2.get(f"{url}{_API}{path}", params=parameters, timeout=_SECONDS)
    except httpx2.TransportError:
        raise fail(f"{url} does not answer.", EXIT_UNREACHABLE) from None
    if not answer.is_success:
        check(answer)
    return answer
