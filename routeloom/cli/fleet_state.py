"""`routeloom health`, `routeloom flaps` and `routeloom incidents`: how the fleet is, in the terminal."""

from __future__ import annotations

import json
from typing import Annotated, Any
from urllib.parse import quote, urlencode

import typer
from rich.console import Console
from rich.table import Table

from routeloom.cli.nodes import AsJson, Server, fetch

_STYLES = {
    "ok": "green",
    "degraded": "yellow",
    "stale": "yellow",
    "down": "red",
    "unknown": "dim",
    "maintenance": "magenta",
    "stable": "green",
    "noisy": "yellow",
    "flapping": "red",
}
NodeOption = Annotated[str | None, typer.Option("--node", help="Only this node")]


def health(
    node: Annotated[str | None, typer.Argument(help="One node; else the fleet and its issues")] = None,
    server: Server = None,
    as_json: AsJson = False,
) -> None:
    """How the fleet is and what needs a person, or how one node is, part by part."""
    answer = fetch(server, f"/api/v1/health/nodes/{quote(node)}" if node else "/api/v1/health")
    if as_json:
        typer.echo(json.dumps(answer, indent=2))
        return
    console = Console()
    console.print(_node(answer) if node else _fleet(answer))
    if node:
        console.print(_sessions(answer["session_list"]))
    elif answer["issues"]:
        console.print(_issues(answer["issues"]))
    else:
        typer.echo("Nothing needs you.")


def flaps(
    node: NodeOption = None,
    session: Annotated[str | None, typer.Option("--session", help="Why this session has its score")] = None,
    prefix: Annotated[str | None, typer.Option("--prefix", help="Why this prefix has its score")] = None,
    server: Server = None,
    as_json: AsJson = False,
) -> None:
    """Scores of sessions and prefixes, the highest first; with --node and --session or --prefix, why."""
    path = _flaps_path(node, session, prefix)
    answer = fetch(server, path)
    if as_json:
        typer.echo(json.dumps(answer, indent=2))
    elif session or prefix:
        _explain(answer)
    else:
        items = answer if isinstance(answer, list) else answer["items"]
        if items:
            Console().print(_scores(items))
        else:
            typer.echo("Nothing has a score.")


def incidents(
    node: NodeOption = None,
    everything: Annotated[bool, typer.Option("--all", help="Also those that are over")] = False,
    server: Server = None,
    as_json: AsJson = False,
) -> None:
    """What is wrong, and with --all what was."""
    wanted = {"state": "all" if everything else "open", **({"node_id": node} if node else {})}
    answer = fetch(server, f"/api/v1/incidents?{urlencode(wanted)}")
    if as_json:
        typer.echo(json.dumps(answer, indent=2))
    elif answer["items"]:
        Console().print(_incidents(answer["items"]))
    else:
        typer.echo("No incident is open.")


def _flaps_path(node: str | None, session: str | None, prefix: str | None) -> str:
    if session is None and prefix is None:
        return f"/api/v1/flaps/{quote(node)}" if node else "/api/v1/flaps"
    if node is None or (session and prefix):
        raise typer.BadParameter("Say --node, and either --session or --prefix.")
    if session:
        return f"/api/v1/flaps/{quote(node)}/session?{urlencode({'name': session})}"
    return f"/api/v1/flaps/{quote(node)}/prefix?{urlencode({'prefix': prefix})}"


def _with_heads(*headings: str) -> Table:
    table = Table(box=None, header_style="bold", pad_edge=False)
    for heading in headings:
        table.add_column(heading)
    return table


def _word(state: str) -> str:
    return f"[{_STYLES.get(state, 'dim')}]{state}[/]"


def _fleet(answer: dict[str, Any]) -> Table:
    table = _with_heads("Node", "State", "Since", "Sessions", "Reasons")
    for node in answer["nodes"]:
        sessions = node["sessions"]
        total = sum(sessions.values()) - sessions["disabled"]
        reasons = ", ".join(reason["code"] for reason in node["reasons"])
        up = f"{sessions['established']}/{total}"
        table.add_row(node["node_id"], _word(node["state"]), _minute(node["since"]), up, reasons or "–")
    return table


def _issues(items: list[dict[str, Any]]) -> Table:
    table = _with_heads("Issue", "Node", "Of", "Since", "Detail")
    for item in items:
        kind = f"[dim]{item['kind']}[/]" if item["muted"] else item["kind"]
        about = (item["node_id"], item["subject"] or "–", _minute(item["since"]))
        table.add_row(kind, *about, item["detail"] or "–")
    return table


def _node(answer: dict[str, Any]) -> Table:
    table = _with_heads("Part", "State", "Since", "Reasons")
    whole = {"part": "overall", "state": answer["state"], "since": answer["since"], "reasons": []}
    for part in [whole, *answer["parts"]]:
        reasons = "; ".join(f"{r['code']} {r['detail']}".strip() for r in part["reasons"])
        table.add_row(part["part"], _word(part["state"]), _minute(part["since"]), reasons or "–")
    return table


def _sessions(items: list[dict[str, Any]]) -> Table:
    table = _with_heads("Session", "State", "Since", "AS", "Imported", "Error")
    for item in items:
        about = (item["name"], item["state"], _minute(item["since"]), str(item["neighbor_asn"] or "–"))
        imported = "–" if item["imported"] is None else str(item["imported"])
        table.add_row(*about, imported, item["error"] or "–")
    return table


def _scores(items: list[dict[str, Any]]) -> Table:
    table = _with_heads("Subject", "Node", "Level", "Score", "Events", "Clears")
    for item in items:
        level = _word(item["level"]) + (" [dim](muted)[/]" if item.get("muted_at") else "")
        about = (item["subject"] or "the node itself", item["node_id"], level)
        table.add_row(*about, f"{item['score']:.0f}", str(item["events"]), _minute(item["clears_at"]))
    return table


def _explain(answer: dict[str, Any]) -> None:
    now = answer["now"]
    typer.echo(f"{now['subject']} on {now['node_id']}: {now['level']}, score {now['score']:.0f}")
    typer.echo(f"{answer['drops']} charges within {answer['span_seconds'] / 60:.0f} min.")
    if now["clears_at"]:
        typer.echo(f"Clears at {_minute(now['clears_at'])} if nothing more happens.")
    table = _with_heads("When", "Event", "Before", "Weight", "Score", "Reason")
    for event in answer["history"]:
        figures = (f"{event['before']:.0f}", f"+{event['weight']}", f"{event['after']:.0f}")
        reason = event["reason"] or event["reason_class"] or "–"
        table.add_row(event["at"][:19].replace("T", " "), event["event"], *figures, reason)
    Console().print(table)


def _incidents(items: list[dict[str, Any]]) -> Table:
    table = _with_heads("Incident", "Node", "Of", "Opened", "Closed", "Id")
    for item in items:
        kind = f"[dim]{item['kind']} (muted)[/]" if item.get("muted_at") else item["kind"]
        about = (kind, item["node_id"], item["subject"] or "–")
        table.add_row(*about, _minute(item["opened_at"]), _minute(item["closed_at"]), item["id"])
    return table


def _minute(instant: str | None) -> str:
    return instant[:16].replace("T", " ") if instant else "–"
