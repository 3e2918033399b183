"""`routeloom simulate`: a fleet that does not exist, driven through the real protocol and compared."""

from __future__ import annotations

import importlib
import json
import tempfile
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.table import Table

from routeloom.cli.connection import EXIT_REFUSED, errors, fail, find_connection
from shared.kernel import interrupts

if TYPE_CHECKING:
    from routeloom.simulate.comparison import Finding
    from routeloom.simulate.plan import Plan

app = typer.Typer()
_MOST_SHOWN = 50


@app.command()
def simulate(  # noqa: PLR0913 - the options of the command
    *,
    nodes: Annotated[int, typer.Option(min=1, max=1000, help="Nodes")] = 4,
    sessions: Annotated[int, typer.Option(min=3, max=99, help="BGP sessions a node")] = 6,
    prefixes: Annotated[int, typer.Option(min=2, max=8000, help="Prefixes a node hears of")] = 200,
    hours: Annotated[float, typer.Option(min=0.1, max=720, help="Length, in hours of the simulation")] = 4.0,
    seed: Annotated[int, typer.Option(help="The same seed gives the same fleet, traffic and faults")] = 1,
    faults: Annotated[str, typer.Option(help="Kinds of faults, with commas; `all` or `none`")] = "all",
    speed: Annotated[
        float, typer.Option(min=0, help="Times faster than time goes; 0: as fast as the server keeps up")
    ] = 0.0,
    server: Annotated[
        str | None,
        typer.Option(help="Drive this server, in real time, instead of one of the simulation's own"),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON")] = False,
) -> None:
    """Simulate a fleet through the real agent protocol and compare what is reported with what happened.

    Without --server a control server is started in this process, on a free port of loopback, with a clock
    of its own, and is gone at the end. With --server the nodes `sim001` and on are added there, and stay.
    """
    plans = importlib.import_module("routeloom.simulate.plan")
    plan = plans.Plan(
        nodes=nodes,
        sessions=sessions,
        prefixes=prefixes,
        hours=hours,
        seed=seed,
        faults=_kinds(faults, [kind.value for kind in plans.FaultKind]),
    )
    findings = interrupts.run(_against(plan, server) if server else _alone(plan, speed))
    wrong = [finding for finding in findings if not finding.agrees]
    if as_json:
        typer.echo(json.dumps(_as_json(findings), indent=2))
    else:
        _show(findings, wrong)
    if wrong:
        raise typer.Exit(EXIT_REFUSED)


def _kinds(text: str, known: list[str]) -> frozenset[str]:
    wanted = known if text == "all" else [] if text == "none" else [word.strip() for word in text.split(",")]
    unknown = [word for word in wanted if word not in known]
    if unknown:
        fail(f"No such fault: {', '.join(unknown)}. Known: {', '.join(known)}.")
    return frozenset(wanted)


async def _alone(plan: Plan, speed: float) -> list[Finding]:
    servers = importlib.import_module("routeloom.simulate.server")
    simulations = importlib.import_module("routeloom.simulate.simulation")
    clock = servers.Clock(plan.start)
    with tempfile.TemporaryDirectory(prefix="routeloom-simulate-") as directory:
        async with servers.OwnServer(Path(directory), clock) as own:
            errors.print(f"Simulating {plan.nodes} nodes for {plan.hours:g} h at {own.url}")
            place = simulations.Place(own.url, own.token)
            pace = simulations.TurnedClock(clock, own, speed)
            found: list[Finding] = await simulations.Simulation(plan, place, pace).run()
    return found


async def _against(plan: Plan, server: str) -> list[Finding]:
    simulations = importlib.import_module("routeloom.simulate.simulation")
    connection = find_connection(server)
    plans = importlib.import_module("dataclasses").replace(
        plan, start=datetime.now(UTC), faults=plan.faults - {"server_restart"}
    )
    place = simulations.Place(connection.url, connection.token)
    found: list[Finding] = await simulations.Simulation(plans, place, simulations.PassingTime()).run()
    return found


def _as_json(findings: list[Finding]) -> list[dict[str, object]]:
    return [
        {
            "what": finding.what,
            "where": finding.where,
            "expected": finding.expected,
            "reported": finding.reported,
            "agrees": finding.agrees,
        }
        for finding in findings
    ]


def _show(findings: list[Finding], wrong: list[Finding]) -> None:
    console = Console()
    summary = Table(box=None, header_style="bold", pad_edge=False)
    for heading in ("Compared", "Times", "Differences"):
        summary.add_column(heading)
    for what in dict.fromkeys(finding.what for finding in findings):
        of_kind = [finding for finding in findings if finding.what == what]
        differing = sum(not finding.agrees for finding in of_kind)
        summary.add_row(what, str(len(of_kind)), str(differing))
    console.print(summary)
    for finding in wrong[:_MOST_SHOWN]:
        console.print(
            f"{finding.what}, {finding.where}: happened {finding.expected}, reported {finding.reported}",
            style="red",
            markup=False,
        )
