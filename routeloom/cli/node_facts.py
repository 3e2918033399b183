"""`routeloom nodes add`, `show`, `change`, `delete` and `token`: what operators write of a node."""

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

app = typer.Typer(no_args_is_help=True, help="Nodes of the fleet.")

_PATH = "/api/v1/nodes"

Node = Annotated[str, typer.Argument(help="The node")]
Site = Annotated[str | None, typer.Option("--site", help="Where it stands")]
Description = Annotated[str | None, typer.Option("--description")]
Asn = Annotated[int | None, typer.Option("--asn", help="Without one nothing is published for it")]
Number = Annotated[int | None, typer.Option("--number", help="In communities; given out by default")]
RouterId = Annotated[str | None, typer.Option("--router-id", help="By default the IPv4 loopback")]
Loopbacks = Annotated[
    list[str] | None, typer.Option("--loopback", help="One of each family; given out from pools by default")
]
Prefixes = Annotated[
    list[str] | None, typer.Option("--prefix", help="What it originates, each once; all of a family at once")
]
Endpoint = Annotated[str | None, typer.Option("--endpoint", help="Name or address that tunnels reach")]
LinkLocal = Annotated[str | None, typer.Option("--link-local", help="On all tunnels to other networks")]
Region = Annotated[int | None, typer.Option("--region", help="dn42 region, 41 to 70")]
Country = Annotated[int | None, typer.Option("--country", help="1000 and the number of ISO 3166-1")]


@app.command("add")
def add_node(  # noqa: PLR0913 - the options of the command
    node: Node,
    *,
    site: Site = None,
    description: Description = None,
    asn: Asn = None,
    number: Number = None,
    router_id: RouterId = None,
    loopback: Loopbacks = None,
    prefix: Prefixes = None,
    endpoint: Endpoint = None,
    link_local: LinkLocal = None,
    region: Region = None,
    country: Country = None,
    preview: Preview = False,
    server: Server = None,
    as_json: AsJson = False,
) -> None:
    """Add a node. Its agent may enrol before or after."""
    places = _given(endpoint=endpoint, link_local=link_local, region=region, country=country)
    names = _given(asn=asn, number=number, router_id=router_id)
    routing = {**names, **_by_family(loopback, prefix), **places}
    body = _given(node_id=node, site=site, description=description, routing=routing or None)
    answer = ask(server, Question("POST", _PATH, body, previewed(preview)))
    _told(answer, f"{node} is added.", preview=preview, as_json=as_json)


@app.command("show")
def show_node(node: Node, server: Server = None, as_json: AsJson = False) -> None:
    """The facts of a node."""
    facts = ask(server, Question("GET", f"{_PATH}/{node}/facts"))
    if as_json:
        print_json(facts)
        return
    routing = facts["routing"]
    made = table("Fact", "Value")
    for name in ("site", "description", "lifecycle", "labels", "allow_targets", "deny_targets"):
        made.add_row(_word(name), _text(facts[name]))
    for name in (
        *("asn", "number", "router_id", "loopback4", "loopback6", "prefixes4", "prefixes6"),
        *("link_local", "endpoint", "region", "country"),
    ):
        made.add_row(_word(name), _text(routing[name]))
    made.add_row("Generation", str(facts["generation"]))
    made.add_row("Version", str(facts["version"]))
    Console(highlight=False, markup=False).print(made)


@app.command("change")
def change_node(  # noqa: PLR0913 - the options of the command
    node: Node,
    *,
    site: Site = None,
    description: Description = None,
    asn: Asn = None,
    number: Number = None,
    router_id: RouterId = None,
    loopback: Loopbacks = None,
    prefix: Prefixes = None,
    endpoint: Endpoint = None,
    link_local: LinkLocal = None,
    region: Region = None,
    country: Country = None,
    active: Annotated[
        bool | None,
        typer.Option("--active/--decommission", help="A decommissioned node withdraws everything"),
    ] = None,
    preview: Preview = False,
    server: Server = None,
    as_json: AsJson = False,
) -> None:
    """Change what is named; everything else stays."""
    places = _given(endpoint=endpoint, link_local=link_local, region=region, country=country)
    names = _given(asn=asn, number=number, router_id=router_id)
    routing = {**names, **_by_family(loopback, prefix), **places}
    lifecycle = None if active is None else "active" if active else "decommissioned"
    body = _given(site=site, description=description, lifecycle=lifecycle, routing=routing or None)
    if not body:
        fail("Name what to change; `--help` lists it.", EXIT_USAGE)
    version = ask(server, Question("GET", f"{_PATH}/{node}/facts"))["version"]
    answer = ask(server, Question("PATCH", f"{_PATH}/{node}", body, previewed(preview), version))
    _told(answer, f"{node} is changed.", preview=preview, as_json=as_json)


@app.command("delete")
def delete_node(node: Node, server: Server = None) -> None:
    """Forget a decommissioned node, once its agent runs the empty state."""
    ask(server, Question("DELETE", f"{_PATH}/{node}"))
    typer.echo(f"{node} is deleted.")


@app.command("token")
def make_token(
    node: Annotated[
        str | None, typer.Argument(help="The node; without one an operator decides when the agent has come")
    ] = None,
    *,
    expires_in: Annotated[
        int | None, typer.Option("--expires-in", help="Seconds; an hour by default")
    ] = None,
    server: Server = None,
    as_json: AsJson = False,
) -> None:
    """Make an enrolment token. It works once and is printed this once."""
    body = _given(node_id=node, expires_in=expires_in)
    answer = ask(server, Question("POST", "/api/v1/enrolment-tokens", body))
    if as_json:
        print_json(answer)
    else:
        typer.echo(answer["token"])


def _told(answer: Any, sentence: str, *, preview: bool, as_json: bool) -> None:
    if as_json:
        print_json(answer)
    elif preview:
        show_preview(answer)
    else:
        typer.echo(sentence)


def _by_family(loopbacks: list[str] | None, prefixes: list[str] | None) -> dict[str, Any]:
    found: dict[str, Any] = {f"loopback{_family(text)}": text for text in loopbacks or ()}
    for text in prefixes or ():
        found.setdefault(f"prefixes{_family(text)}", []).append(text)
    return found


def _family(text: str) -> int:
    return 6 if ":" in text else 4


def _given(**values: Any) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value is not None}


def _word(name: str) -> str:
    return {"asn": "AS number", "router_id": "Router ID"}.get(name, name.replace("_", " ").capitalize())


def _text(value: Any) -> str:
    if isinstance(value, dict):
        value = [f"{name}={text}" for name, text in sorted(value.items())]
    if isinstance(value, list):
        value = ", ".join(value)
    return str(value) if value not in (None, "") else "–"
