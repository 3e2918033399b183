"""`routeloom probe`: run a tool on nodes and see every line as it comes."""

from __future__ import annotations

import asyncio
import json
import signal
import sys
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import httpx2
import typer
from rich.console import Console

from routeloom.cli.connection import (
    EXIT_REFUSED,
    EXIT_UNREACHABLE,
    Connection,
    check,
    fail,
    find_connection,
)
from routeloom.cli.event_stream import follow
from shared.kernel import interrupts

if TYPE_CHECKING:
    from collections.abc import Sequence

app = typer.Typer(no_args_is_help=True, help="Run ping, traceroute or mtr on nodes of the fleet.")
console = Console(highlight=False)

Target = Annotated[str, typer.Argument(help="Address, or host name that each node resolves itself")]
Nodes = Annotated[list[str], typer.Option("--node", "-n", help="Node to run it on; may be repeated")]
Server = Annotated[str | None, typer.Option("--server", help="Address of the server; else ROUTELOOM_URL")]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object for each event")]
Family4 = Annotated[bool, typer.Option("-4", help="IPv4 only")]
Family6 = Annotated[bool, typer.Option("-6", help="IPv6 only")]

_STATE_STYLES = {"done": "green", "running": "cyan", "accepted": "dim"}


@dataclass(frozen=True, slots=True)
class Order:
    """What to run where, and how to show it."""

    tool: str
    target: str
    nodes: Sequence[str]
    options: dict[str, Any]
    as_json: bool


@app.command()
def ping(  # noqa: PLR0913 - one parameter for each option of the command line
    target: Target,
    *,
    node: Nodes,
    count: Annotated[int | None, typer.Option("--count", "-c", min=1, max=100, help="Echo requests")] = None,
    v4: Family4 = False,
    v6: Family6 = False,
    server: Server = None,
    as_json: AsJson = False,
) -> None:
    """Send echo requests."""
    options = {"count": count, "family": _family(v4=v4, v6=v6)}
    _run(server, Order("ping", target, node, options, as_json))


@app.command()
def traceroute(  # noqa: PLR0913 - one parameter for each option of the command line
    target: Target,
    *,
    node: Nodes,
    max_hops: Annotated[
        int | None, typer.Option("--max-hops", "-m", min=1, max=64, help="Greatest hop limit")
    ] = None,
    v4: Family4 = False,
    v6: Family6 = False,
    server: Server = None,
    as_json: AsJson = False,
) -> None:
    """Trace the path."""
    options = {"max_hops": max_hops, "family": _family(v4=v4, v6=v6)}
    _run(server, Order("traceroute", target, node, options, as_json))


@app.command()
def mtr(  # noqa: PLR0913 - one parameter for each option of the command line
    target: Target,
    *,
    node: Nodes,
    count: Annotated[int | None, typer.Option("--count", "-c", min=1, max=100, help="Cycles")] = None,
    v4: Family4 = False,
    v6: Family6 = False,
    server: Server = None,
    as_json: AsJson = False,
) -> None:
    """Trace the path again and again, with loss at each hop."""
    options = {"count": count, "family": _family(v4=v4, v6=v6)}
    _run(server, Order("mtr", target, node, options, as_json))


def _family(*, v4: bool, v6: bool) -> int | None:
    if v4 and v6:
        fail("-4 and -6 exclude each other.")
    return 4 if v4 else 6 if v6 else None


def _run(server: str | None, order: Order) -> None:
    connection = find_connection(server)
    try:
        state = interrupts.run(_probe(connection, order))
    except httpx2.TransportError:
        fail(f"{connection.url} does not answer.", EXIT_UNREACHABLE)
    except (KeyboardInterrupt, asyncio.CancelledError):
        raise typer.Exit(interrupts.INTERRUPTED) from None
    if state != "done":
        raise typer.Exit(EXIT_REFUSED)


async def _probe(connection: Connection, order: Order) -> str:
    wanted = {
        "nodes": list(order.nodes),
        "tool": order.tool,
        "target": order.target,
        "options": {name: value for name, value in order.options.items() if value is not None},
    }
    async with connection.client() as client:
        started = check(await client.post("/api/v1/probes", json=wanted))
        following = asyncio.create_task(_show(client, started["stream"], order))
        interruption = _Interruption(client, started["id"], following)
        asyncio.get_running_loop().add_signal_handler(signal.SIGINT, interruption.came)
        state = await following
    if interruption.cancelling is not None:
        raise typer.Exit(interrupts.INTERRUPTED)
    return state


@dataclass(slots=True)
class _Interruption:
    """Ctrl-C: the first cancels the probe, whose last lines are still shown; the second waits no more."""

    client: httpx2.AsyncClient
    ident: str
    following: asyncio.Task[str]
    cancelling: asyncio.Task[None] | None = None

    def came(self) -> None:
        if self.cancelling is None:
            self.cancelling = asyncio.create_task(self._cancel())
        else:
            self.following.cancel()

    async def _cancel(self) -> None:
        with suppress(httpx2.TransportError):  # whoever follows the stream finds out and says so
            await self.client.post(f"/api/v1/probes/{self.ident}/cancel")


async def _show(client: httpx2.AsyncClient, stream: str, order: Order) -> str:
    state = "failed"
    async for event in follow(client, stream):
        if event.name == "done":
            state = event.data["state"]
        if order.as_json:
            typer.echo(json.dumps({"event": event.name, **event.data}, ensure_ascii=False))
        else:
            _print(event.name, event.data, many=len(order.nodes) > 1)
    return state


def _print(name: str, data: dict[str, Any], *, many: bool) -> None:
    node = f"{data.get('node') or ''}: " if many and data.get("node") else ""
    if name == "output":
        out = console if data["stream"] == "stdout" else _notes()
        out.print(f"{node}{data['text']}", markup=False, style="" if data["stream"] == "stdout" else "dim")
    elif name == "gap":
        _notes().print(f"lines {data['from']} to {data['to']} are missing", style="yellow")
    elif name == "done":
        told = data.get("reason") and data["reason"] != data["state"]
        reason = f" ({data['reason']})" if told else ""
        style = _STATE_STYLES.get(data["state"], "red")
        _notes().print(f"{data['state']}{reason}", style=style, markup=False)


def _notes() -> Console:
    return Console(stderr=True, highlight=False, file=sys.stderr)
