"""`routeloom jobs`: background jobs, and what to do with those that were given up."""

from __future__ import annotations

import json
from typing import Annotated, Any

import httpx2
import typer
from rich.console import Console
from rich.table import Table

from routeloom.cli.connection import EXIT_UNREACHABLE, check, fail, find_connection
from shared.kernel import interrupts

app = typer.Typer(no_args_is_help=True, help="Background jobs.")

_PATH = "/api/v1/jobs"
Server = Annotated[str | None, typer.Option("--server", help="Address of the server; else ROUTELOOM_URL")]
AsJson = Annotated[bool, typer.Option("--json", help="Print the server's answer as JSON")]
Queue = Annotated[str, typer.Argument(help="`notifications` or `upkeep`")]


@app.command("list")
def list_jobs(server: Server = None, as_json: AsJson = False) -> None:
    """Queues, scheduled work, workers, and which of them holds what until when."""
    answer = _ask(server, "GET", _PATH)
    if as_json:
        typer.echo(json.dumps(answer, indent=2))
        return
    console = Console()
    console.print(_queues(answer["queues"]))
    console.print(_schedules(answer["schedules"]))
    if answer["leases"]:
        console.print(_leases(answer["leases"]))
    alive = sum(worker["alive"] for worker in answer["workers"])
    typer.echo(f"\n{alive} of {len(answer['workers'])} workers alive; jobs are kept in {answer['kept_in']}.")


@app.command("dead")
def list_dead(
    queue: Annotated[str | None, typer.Option("--queue", help="Only this queue")] = None,
    server: Server = None,
    as_json: AsJson = False,
) -> None:
    """Jobs that used up their attempts, the latest first."""
    answer = _ask(server, "GET", f"{_PATH}/dead", parameters={"queue": queue} if queue else None)
    if as_json:
        typer.echo(json.dumps(answer, indent=2))
    elif not answer["items"]:
        typer.echo("No job was given up.")
    else:
        Console().print(_dead(answer["items"]))


@app.command("requeue")
def requeue(
    queue: Queue,
    job_ids: Annotated[list[str] | None, typer.Argument(help="Ids of dead jobs; none means all")] = None,
    server: Server = None,
) -> None:
    """Give dead jobs all their attempts again."""
    answer = _ask(server, "POST", f"{_PATH}/dead/requeue", {"queue": queue, "job_ids": job_ids or []})
    typer.echo(f"{answer['count']} put back.")


@app.command("purge")
def purge(
    queue: Queue,
    older_than: Annotated[
        int, typer.Option("--older-than", min=0, help="Only those dead for so many days")
    ] = 0,
    server: Server = None,
) -> None:
    """Forget dead jobs."""
    wanted = {"queue": queue, "older_than_seconds": older_than * 86_400}
    typer.echo(f"{_ask(server, 'POST', f'{_PATH}/dead/purge', wanted)['count']} forgotten.")


@app.command("start")
def start(
    kind: Annotated[str, typer.Argument(help="Such as registry.sync; `routeloom jobs list` shows them")],
    *,
    force: Annotated[
        bool, typer.Option("--force", help="With registry.sync: apply also what the guard holds")
    ] = False,
    server: Server = None,
) -> None:
    """Start a job of this kind now."""
    wanted = {"force": True} if force else None
    typer.echo(_ask(server, "POST", f"{_PATH}/kinds/{kind}/start", wanted)["job_id"])


def _ask(
    server: str | None,
    method: str,
    path: str,
    body: dict[str, Any] | None = None,
    parameters: dict[str, str] | None = None,
) -> Any:
    connection = find_connection(server)

    async def once() -> Any:
        async with connection.client() as client:
            return check(await client.request(method, path, json=body, params=parameters))

    try:
        return interrupts.run(once())
    except httpx2.TransportError:
        return fail(f"{connection.url} does not answer.", EXIT_UNREACHABLE)


def _with_heads(*headings: str) -> Table:
    table = Table(box=None, header_style="bold", pad_edge=False)
    for heading in headings:
        table.add_column(heading)
    return table


def _queues(items: list[dict[str, Any]]) -> Table:
    table = _with_heads("Queue", "Waiting", "Later", "In work", "Dead", "Longest wait")
    for item in items:
        numbers = [str(item[name]) for name in ("pending", "delayed", "leased", "dead")]
        table.add_row(item["name"], *numbers, f"{item['oldest_wait_seconds']:.0f} s")
    return table


def _schedules(items: list[dict[str, Any]]) -> Table:
    table = _with_heads("Work", "Every", "Last end", "When", "Error")
    for item in items:
        every = f"{item['every_seconds']:.0f} s" if item["every_seconds"] else "when asked"
        last = item["last"] or {"outcome": "–", "finished_at": "–", "error": ""}
        table.add_row(item["kind"], every, last["outcome"], _minute(last["finished_at"]), last["error"])
    return table


def _leases(items: list[dict[str, Any]]) -> Table:
    table = _with_heads("Queue", "Job", "Kind", "Attempt", "Held by", "Until")
    for item in items:
        about = (item["queue"], item["job_id"], item["kind"] or "–", str(item["attempt"]))
        table.add_row(*about, item["worker_id"], item["expires_at"][:19].replace("T", " "))
    return table


def _dead(items: list[dict[str, Any]]) -> Table:
    table = _with_heads("Queue", "Job", "Kind", "Attempts", "Died", "Last error")
    for item in items:
        about = (item["queue"], item["job_id"], item["kind"] or "–", str(item["attempts"]))
        table.add_row(*about, _minute(item["died_at"]), item["error"])
    return table


def _minute(instant: str) -> str:
    return instant[:16].replace("T", " ")
