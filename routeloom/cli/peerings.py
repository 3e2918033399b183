"""`routeloom peerings`: sessions with other networks."""

from __future__ import annotations

from enum import StrEnum
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

app = typer.Typer(no_args_is_help=True, help="Peerings with other networks.")

_PATH = "/api/v1/peerings"
Ident = Annotated[str, typer.Argument(help="The id, as `routeloom peerings list` shows it")]
Node = Annotated[str, typer.Argument(help="The node")]
Filter = Annotated[
    str | None,
    typer.Option(
        "--registry-filter", help="Take only what `origin` or an as-set may originate; `off`: the policy's"
    ),
]


class Runs(StrEnum):
    """Programs for which there is a text."""

    BIRD = "bird"
    FRR = "frr"
    OPENBGPD = "openbgpd"


@app.command("list")
def list_peerings(
    node: Annotated[str | None, typer.Option("--node", help="Only those of this node")] = None,
    server: Server = None,
    as_json: AsJson = False,
) -> None:
    """Peerings by node and name."""
    parameters = {"node_id": node} if node else {}
    answer = ask(server, Question("GET", _PATH, parameters=parameters))
    if as_json:
        print_json(answer)
        return
    if not answer["items"]:
        typer.echo("No peering yet. Add one with `routeloom peerings add`.")
        return
    made = table("Id", "Node", "Name", "AS", "Enabled", "Endpoint", "Neighbour")
    for item in answer["items"]:
        session = item["session"]
        made.add_row(
            item["id"],
            item["node_id"],
            item["name"],
            f"AS{item['asn']}",
            "yes" if item["enabled"] else "no",
            item["link"].get("endpoint") or "–",
            session["neighbor6"] or session["neighbor4"],
        )
    Console(highlight=False).print(made)


@app.command("show")
def show_peering(
    ident: Ident,
    *,
    other_side: Annotated[
        bool, typer.Option("--other-side", help="Only the configuration that the neighbour pastes")
    ] = False,
    runs: Annotated[
        Runs, typer.Option("--for", help="What the neighbour's router runs", case_sensitive=False)
    ] = Runs.BIRD,
    server: Server = None,
    as_json: AsJson = False,
) -> None:
    """One peering, and the configuration for its other side."""
    other = ask(server, Question("GET", f"{_PATH}/{ident}/other-side"))
    if not other_side:
        answer = ask(server, Question("GET", f"{_PATH}/{ident}"))
        if as_json:
            print_json(answer)
            return
        _show(answer)
        typer.echo("\nFor the other side:\n")
    elif as_json:
        print_json(other)
        return
    if other["wireguard"]:
        typer.echo(other["wireguard"] + "\n")
    typer.echo(other[runs.value])


@app.command("add")
def add_peering(  # noqa: PLR0913 - the options of the command
    node: Node,
    name: Annotated[str, typer.Argument(help="Small letters, digits and underscores")],
    *,
    asn: Annotated[int, typer.Option("--asn", help="The neighbour's AS number")],
    public_key: Annotated[str, typer.Option("--public-key", help="The neighbour's WireGuard key")],
    neighbor: Annotated[str, typer.Option("--neighbor", help="Its address, such as fe80::801")],
    endpoint: Annotated[str | None, typer.Option("--endpoint", help="Its host and port")] = None,
    listen_port: Annotated[int | None, typer.Option("--listen-port", help="Given out by default")] = None,
    description: Annotated[str, typer.Option("--description")] = "",
    registry_filter: Filter = None,
    preview: Preview = False,
    server: Server = None,
    as_json: AsJson = False,
) -> None:
    """Add a peering: its tunnel and its session, or nothing."""
    family = "neighbor6" if ":" in neighbor else "neighbor4"
    body = {
        "node_id": node,
        "name": name,
        "asn": asn,
        "description": description,
        "link": {
            "kind": "wireguard",
            "peer_public_key": public_key,
            "endpoint": endpoint,
            "listen_port": listen_port,
        },
        "session": {family: neighbor},
        "registry_filter": _filter(registry_filter),
    }
    answer = ask(server, Question("POST", _PATH, body, previewed(preview)))
    if as_json:
        print_json(answer)
    elif preview:
        show_preview(answer)
    else:
        typer.echo(answer["id"])


@app.command("change")
def change_peering(  # noqa: PLR0913 - the options of the command
    ident: Ident,
    *,
    description: Annotated[str | None, typer.Option("--description")] = None,
    enabled: Annotated[
        bool | None,
        typer.Option("--enable/--disable", help="A disabled one is withdrawn and keeps its facts"),
    ] = None,
    prepend: Annotated[int | None, typer.Option("--prepend", help="Own AS so many times more")] = None,
    local_pref: Annotated[int | None, typer.Option("--local-pref")] = None,
    import_limit: Annotated[int | None, typer.Option("--import-limit", help="Prefixes a family")] = None,
    endpoint: Annotated[str | None, typer.Option("--endpoint", help="The neighbour's host and port")] = None,
    registry_filter: Filter = None,
    preview: Preview = False,
    server: Server = None,
    as_json: AsJson = False,
) -> None:
    """Change what is named; everything else stays."""
    limit = None if import_limit is None else {"prefixes": import_limit}
    policy = _given(prepend=prepend, local_pref=local_pref, import_limit=limit)
    body = _given(
        description=description,
        enabled=enabled,
        session={"policy": policy} if policy else None,
        link=None if endpoint is None else {"endpoint": endpoint or None},
    )
    if registry_filter is not None:
        body["registry_filter"] = _filter(registry_filter)
    if not body:
        fail("Name what to change; `--help` lists it.", EXIT_USAGE)
    version = ask(server, Question("GET", f"{_PATH}/{ident}"))["version"]
    answer = ask(server, Question("PATCH", f"{_PATH}/{ident}", body, previewed(preview), version))
    if as_json:
        print_json(answer)
    elif preview:
        show_preview(answer)
    else:
        _show(answer)


@app.command("delete")
def delete_peering(
    ident: Ident, *, preview: Preview = False, server: Server = None, as_json: AsJson = False
) -> None:
    """Withdraw a peering and forget it."""
    answer = ask(server, Question("DELETE", f"{_PATH}/{ident}", parameters=previewed(preview)))
    if as_json:
        print_json(answer)
    elif preview:
        show_preview(answer)
    else:
        typer.echo(f"{ident} is deleted.")


def _filter(word: str | None) -> dict[str, str] | None:
    if word is None or word == "off":
        return None
    return {} if word == "origin" else {"as_set": word}


def _given(**values: Any) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value is not None}


def _show(peering: dict[str, Any]) -> None:
    link, session = peering["link"], peering["session"]
    limit = session["policy"]["import_limit"]
    made = table("Fact", "Value")
    for name, value in (
        ("Node", peering["node_id"]),
        ("Name", peering["name"]),
        ("AS", f"AS{peering['asn']}"),
        ("Description", peering["description"] or "–"),
        ("Enabled", "yes" if peering["enabled"] else "no"),
        ("Interface", link["interface"]),
        ("Listen port", str(link.get("listen_port") or "–")),
        ("Endpoint", link.get("endpoint") or "–"),
        ("Neighbour", session["neighbor6"] or session["neighbor4"]),
        ("Local preference", str(session["policy"]["local_pref"])),
        ("Prepend", str(session["policy"]["prepend"])),
        ("Import limit", str(limit["prefixes"]) if limit else "none"),
        ("Version", str(peering["version"])),
    ):
        made.add_row(name, value)
    Console(highlight=False, markup=False).print(made)
