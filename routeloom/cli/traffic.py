"""`routeloom traffic`: how much goes over the fleet's links, in the terminal."""

from __future__ import annotations

from typing import Annotated, Any
from urllib.parse import quote

import typer
from rich.console import Console
from rich.table import Table

from routeloom.cli.asking import AsJson, Question, Server, ask, print_json, table

Node = Annotated[str | None, typer.Argument(help="One node and its links; else the fleet by node")]
Range = Annotated[str, typer.Option("--range", help="2h, 6h, 24h, 7d, 30d or 90d")]

_STEP = 1000
_BITS = ("bit/s", "kbit/s", "Mbit/s", "Gbit/s", "Tbit/s")
_BYTES = ("B", "kB", "MB", "GB", "TB", "PB")


def traffic(node: Node = None, reach: Range = "24h", server: Server = None, as_json: AsJson = False) -> None:
    """Bytes and rates of the fleet's nodes, or of the links of one."""
    path = f"/api/v1/nodes/{quote(node, safe='')}/traffic/links" if node else "/api/v1/traffic"
    answer = ask(server, Question("GET", path, parameters={"range": reach}))
    if as_json:
        print_json(answer)
        return
    rows = answer["items"] if node else answer["nodes"]
    if not rows:
        typer.echo("Nothing was measured in this time.")
        return
    Console(highlight=False, markup=False).print(_links(rows) if node else _nodes(rows))


def _nodes(rows: list[dict[str, Any]]) -> Table:
    made = table("Node", "In", "Out", "In now", "Out now")
    for row in rows:
        made.add_row(
            row["node_id"],
            scaled(row["received_bytes"], _BYTES),
            scaled(row["sent_bytes"], _BYTES),
            scaled(row["received_now"], _BITS),
            scaled(row["sent_now"], _BITS),
        )
    return made


def _links(rows: list[dict[str, Any]]) -> Table:
    made = table("Link", "Peer", "In", "Out", "In, greatest", "Out, greatest")
    for row in rows:
        made.add_row(
            row["interface"],
            row["peer"] or "–",
            scaled(row["received_bytes"], _BYTES),
            scaled(row["sent_bytes"], _BYTES),
            scaled(row["received_peak"], _BITS),
            scaled(row["sent_peak"], _BITS),
        )
    return made


def scaled(value: float | None, units: tuple[str, ...]) -> str:
    """A number with the largest unit that keeps it above one."""
    if value is None:
        return "–"
    place = 0
    while abs(value) >= _STEP and place < len(units) - 1:
        value, place = value / _STEP, place + 1
    return f"{value:.0f} {units[0]}" if place == 0 else f"{value:.3g} {units[place]}"
