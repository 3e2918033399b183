"""`routeloom tiers`: how the two tiers do, in the terminal."""

from __future__ import annotations

import json
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from routeloom.cli.nodes import AsJson, Server, fetch

_STYLES = {"ok": "green", "degraded": "yellow", "unavailable": "red", "absent": "dim"}
_HISTORY = 5


def tiers(
    server: Server = None,
    as_json: AsJson = False,
    history: Annotated[int, typer.Option(min=0, help="Changes of each breaker to show")] = _HISTORY,
) -> None:
    """State, hit rate, evictions, memory, keys of each family, and what the breakers went through."""
    answer = fetch(server, "/api/v1/tiers")
    if as_json:
        typer.echo(json.dumps(answer, indent=2))
        return
    console = Console()
    for tier in answer["items"]:
        _show(console, tier, history)


def _show(console: Console, tier: dict[str, Any], history: int) -> None:
    state = tier["state"]
    console.print(
        f"[bold]{tier['tier']}[/]  [{_STYLES.get(state, 'dim')}]{state}[/]  {tier['version'] or ''}"
    )
    for problem in tier["problems"]:
        console.print(f"  {problem}", style="yellow", markup=False)
    if not tier["configured"]:
        console.print("  Not configured; the fallbacks are the path.")
        return
    facts = {
        "hit rate": _percent(tier["hit_rate"]),
        "evicted keys": tier["evicted_keys"],
        "memory": _percent(tier["memory_share"]),
        "keys without TTL": tier["keys_without_ttl"],
        "answer": f"{tier['latency_ms']} ms",
    }
    console.print("  " + "   ".join(f"{name} {_known(value)}" for name, value in facts.items()))
    console.print(_families(tier["families"]))
    for change in tier["breaker"]["history"][:history]:
        console.print(f"  {change['at'][:19]} {change['state']} {change['reason']}", markup=False)


def _families(families: list[dict[str, Any]]) -> Table:
    table = Table(box=None, header_style="bold", pad_edge=False)
    for heading in ("  Family", "Keys", "Bytes", "TTL now", "TTL"):
        table.add_column(heading)
    for family in families:
        shortest, longest = family["shortest_ttl_seconds"], family["longest_ttl_seconds"]
        table.add_row(
            f"  {family['name']}",
            _known(family["keys"]),
            _known(family["bytes"]),
            "–" if shortest is None else f"{shortest:.0f}-{longest:.0f} s",
            "–" if family["ttl_seconds"] is None else f"{family['ttl_seconds']:.0f} s",
        )
    return table


def _percent(share: float | None) -> str | None:
    return None if share is None else f"{share:.1%}"


def _known(value: object) -> str:
    return "–" if value is None else str(value)
