"""`routeloom doctor`: what is wrong with this deployment, and the command that mends each of it."""

from __future__ import annotations

import importlib
import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from routeloom.cli.services import lend_settings
from routeloom.lite.home import Home, default_home
from shared.kernel import interrupts

if TYPE_CHECKING:
    from collections.abc import Sequence

_STYLES = {"good": "green", "note": "yellow", "problem": "bold red"}
_MARKS = {"good": "ok", "note": "note", "problem": "problem"}
_EXIT_PROBLEM, _EXIT_NOTHING = 1, 78
_USUAL = Path("docker-compose")


def doctor(
    as_json: Annotated[bool, typer.Option("--json", help="Findings as one JSON document")] = False,
    every: Annotated[bool, typer.Option("--all", help="Show what is good as well")] = False,
    state_may_share: Annotated[
        bool, typer.Option(help="Let runtime state and jobs be on the captcha's Valkey")
    ] = False,
    compose: Annotated[
        Path | None,
        typer.Option(envvar="ROUTELOOM_COMPOSE", help="Directory of compose.yaml and the servers' files"),
    ] = None,
) -> None:
    """Look at versions, policies, data, clocks, schemas, addresses, certificates, disks and ports.

    Exit status 0: nothing has to be mended; 1: something has to be; 78: nothing is configured here.
    """
    for service in ("control", "auth", "registry"):
        lend_settings(service, Home(default_home()))
    deployment = importlib.import_module("routeloom.doctor.deployment").find_deployment(
        compose or (_USUAL if (_USUAL / "compose.yaml").exists() else None)
    )
    findings = interrupts.run(_examine(deployment, state_may_share=state_may_share))
    if as_json:
        typer.echo(json.dumps([each.as_dict() for each in findings], indent=2, ensure_ascii=False))
    else:
        _show(findings, every=every)
    if not deployment.services and not any(each.grade == "problem" for each in deployment.findings):
        typer.echo("Nothing is configured here; run it where the services' settings are.", err=True)
        raise typer.Exit(_EXIT_NOTHING)
    if any(each.grade == "problem" for each in findings):
        raise typer.Exit(_EXIT_PROBLEM)


async def _examine(deployment: Any, *, state_may_share: bool) -> Any:
    examine = importlib.import_module("routeloom.doctor.examination").examine
    with Console(stderr=True).status("Looking …") as status:
        return await examine(
            deployment,
            state_may_share=state_may_share,
            tell=lambda name: status.update(f"Looking at {name} …"),
        )


def _show(findings: Sequence[Any], *, every: bool) -> None:
    console = Console(highlight=False)
    shown = [each for each in findings if every or each.grade != "good"]
    table = Table(box=None, show_header=False, pad_edge=False)
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    for each in shown:
        table.add_row(f"[{_STYLES[each.grade]}]{_MARKS[each.grade]}[/]", _escaped(each.text))
        if each.remedy:
            table.add_row("", f"[dim]mend it:[/] {_escaped(each.remedy)}")
    console.print(table)
    counts = {grade: sum(1 for each in findings if each.grade == grade) for grade in _STYLES}
    console.print(f"{counts['good']} good, {counts['note']} notes, {counts['problem']} problems")


def _escaped(text: str) -> str:
    return text.replace("[", r"\[")
