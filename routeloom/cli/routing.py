"""`routeloom routes`: which routes the fleet has, in the terminal."""

from __future__ import annotations

import re
from typing import Annotated, Any
from urllib.parse import quote

import typer
from rich.console import Console

from routeloom.cli.asking import AsJson, Question, Server, ask, minute, print_json, table

What = Annotated[
    str | None, typer.Argument(help="A prefix, an address or an AS number; else the fleet in numbers")
]
Node = Annotated[str | None, typer.Option("--node", help="The table of one node")]
Only = Annotated[
    str, typer.Option("--only", help="With --node: best routes, those that are invalid, or filtered and why")
]

_ONLY = ("best", "filtered", "invalid")
_AS_NUMBER = re.compile(r"^(?:AS)?(\d{1,10})$", re.IGNORECASE)


def routes(
    what: What = None, node: Node = None, only: Only = "best", server: Server = None, as_json: AsJson = False
) -> None:
    """One prefix on all nodes, one origin, the table of a node, or the fleet in numbers."""
    question, show = _asked(what, node, only)
    answer = ask(server, question)
    if as_json:
        print_json(answer)
        return
    show(answer)


def _asked(what: str | None, node: str | None, only: str) -> tuple[Question, Any]:
    if node is not None:
        if only not in _ONLY:
            raise typer.BadParameter(f"--only takes {', '.join(_ONLY)}")
        wanted = {only: "true", "limit": "500"} | ({"within": what} if what else {})
        path = f"/api/v1/nodes/{quote(node, safe='')}/routes"
        return Question("GET", path, parameters=wanted), _show_routes
    if what is None:
        return Question("GET", "/api/v1/routing"), _show_fleet
    if (number := _AS_NUMBER.match(what.strip())) is not None:
        return Question("GET", f"/api/v1/routing/origins/{number[1]}"), _show_origin
    return Question("GET", "/api/v1/routing/prefix", parameters={"prefix": what}), _show_prefix


def _show_fleet(answer: dict[str, Any]) -> None:
    typer.echo(
        f"{answer['prefixes4']} IPv4 and {answer['prefixes6']} IPv6 prefixes of {answer['origins']} origins"
        f" on {answer['nodes']} nodes; {answer['filtered']} of {answer['routes']} routes filtered."
    )
    rpki = answer["rpki"]
    typer.echo(
        f"Origin validation: {rpki['valid']} valid, {rpki['invalid']} invalid,"
        f" {rpki['not_found']} not found, {rpki['unchecked']} not checked."
    )


def _show_routes(answer: dict[str, Any]) -> None:
    _print(answer["items"])
    if answer.get("next"):
        typer.echo("There are more: give a prefix to look within.")


def _show_origin(answer: dict[str, Any]) -> None:
    typer.echo(f"AS{answer['asn']} {answer['name'] or ''}".strip())
    _summaries(answer["prefixes"]["items"])
    if answer["filtered"]:
        typer.echo("Filtered:")
        _print(answer["filtered"])


def _show_prefix(answer: dict[str, Any]) -> None:
    if not answer["routes"]:
        typer.echo(f"No node has {answer['prefix']}.")
    else:
        _print(answer["routes"])
    if answer["covering"]:
        typer.echo("Lies in:")
        _summaries(answer["covering"])
    if answer["history"]:
        made = table("When", "Node", "What", "After")
        for change in answer["history"][:20]:
            after = change["after_path"] or change["after_protocol"] or "–"
            made.add_row(minute(change["at"]), change["node_id"], change["kind"], after)
        _console().print(made)


def _print(items: list[dict[str, Any]]) -> None:
    if not items:
        typer.echo("No route.")
        return
    made = table("Prefix", "Node", "Session", "Origin", "Path", "RPKI", "State")
    for item in items:
        state = item["reason_name"] or ("best" if item["best"] else "–")
        origin = f"AS{item['origin']}" if item["origin"] is not None else "–"
        row = (item["prefix"], item["node_id"], item["protocol"], origin, item["path"] or "–")
        made.add_row(*row, item["validity"], state)
    _console().print(made)


def _summaries(items: list[dict[str, Any]]) -> None:
    made = table("Prefix", "Origins", "RPKI", "Nodes")
    for item in items:
        origins = " ".join(f"AS{number}" for number in item["origins"]) or "–"
        made.add_row(item["prefix"], origins, item["validity"], str(item["nodes"]))
    _console().print(made)


def _console() -> Console:
    return Console(highlight=False, markup=False)
