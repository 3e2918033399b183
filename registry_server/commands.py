"""The command line of registry_server: `routeloom registry …` and `python -m registry_server …`."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from prometheus_client import CollectorRegistry

from registry_server.metrics import RegistryMetrics
from registry_server.mirror.errors import RepositoryBroken, SyncHeld
from registry_server.mirror.schemas import MirrorSettings, SyncRead, SyncTrigger
from registry_server.mirror.store.repository import read_checkout
from registry_server.objects.schemas import FileVersion, Problem, Severity
from registry_server.objects.service import find_problems
from registry_server.policy.service import find_objections
from registry_server.resources import open_resources
from registry_server.roas.schemas import RoaFormat
from registry_server.roas.service.exports import RoaService
from registry_server.samples.schemas import SamplePlan
from registry_server.samples.service import generate
from registry_server.schema.rules.judging import beyond
from registry_server.schema.schemas import Finding
from registry_server.schema.service import find_findings
from registry_server.settings import RegistrySettings
from shared.kernel.errors import AppError
from shared.kernel.files import write_public
from shared.web.commands import Service, commands, load, run, stop
from shared.web.logs import configure_logs

if TYPE_CHECKING:
    from fastapi import FastAPI


async def seed(settings: RegistrySettings) -> None:
    """Make the sample where the settings point at it, and sync once so that the first look-up is answered."""
    if settings.mirror.url is None:
        return
    if settings.follows_sample and not settings.sample_directory.exists():
        await asyncio.to_thread(generate, SamplePlan(), settings.sample_directory)
    await sync_once(settings)


async def sync_once(settings: RegistrySettings, *, force: bool = False) -> SyncRead:
    """One sync by this process."""
    async with open_resources(settings) as resources:
        mirror = resources.mirror(RegistryMetrics.in_registry(CollectorRegistry()))
        return await mirror.sync(SyncTrigger.COMMAND, force=force)


def _app(settings: RegistrySettings) -> FastAPI:
    from registry_server.app import create_app  # noqa: PLC0415 - commands that serve nothing do not wait for it

    return create_app(settings)


async def _work(settings: RegistrySettings) -> None:
    from registry_server.worker import work  # noqa: PLC0415 - as above

    await work(settings)


SERVICE = Service(
    name="registry",
    package="registry_server",
    load=RegistrySettings,
    create_app=_app,
    work=_work,
    seed=seed,
)
app = commands(SERVICE)


def _quietly() -> RegistrySettings:
    """The settings, with a log of warnings alone where none was asked for: a person waits for one answer."""
    settings = load(SERVICE)
    if "log_level" not in settings.web.model_fields_set:
        configure_logs(level="WARNING", form=settings.web.log_format)
    return settings


async def _files(directory: Path, revision: str) -> Sequence[FileVersion]:
    """What stands in a repository on this host. Raises RepositoryBroken, which names it."""
    try:
        return await read_checkout(directory, revision, MirrorSettings())
    except RepositoryBroken as broken:
        reason = broken.detail.partition(": ")[2] or broken.detail
        raise RepositoryBroken(f"{directory} at {revision} cannot be read: {reason}") from None


@app.command("sync")
def sync(*, force: Annotated[bool, typer.Option(help="Apply also what the guard holds.")] = False) -> None:
    """Bring the index up to the registry's repository now."""
    settings = _quietly()

    async def once() -> None:
        try:
            done = await sync_once(settings, force=force)
        except SyncHeld as held:
            raise SyncHeld(f"{held.detail} Here: routeloom registry sync --force") from None
        typer.echo(f"{done.outcome}: {done.to_commit}, {done.changed} files read, {done.removed} removed")

    run(once())


@app.command("generate")
def generate_sample(
    *,
    directory: Annotated[Path, typer.Argument(help="New, empty, or an older sample, which is replaced.")],
    objects: Annotated[int, typer.Option(min=100, max=50_000, help="Objects at the tip, about.")] = 300,
    commits: Annotated[int, typer.Option(min=2, max=10_000, help="Commits on the first-parent line.")] = 20,
    seed: Annotated[int, typer.Option(help="The same seed gives the same commit ids.")] = 1,
    force_push: Annotated[bool, typer.Option(help="Rewrite the last commits.")] = False,
) -> None:
    """Write a made-up registry with the shapes and slips of a real one, and a manifest of them."""
    plan = SamplePlan(objects=objects, commits=commits, seed=seed, force_push=force_push)
    try:
        manifest = generate(plan, directory)
    except AppError as refusal:
        stop(refusal)
    total = sum(manifest.objects.values())
    typer.echo(f"{directory}: {total} objects, {manifest.commits} commits, tip {manifest.head}")


@app.command("check")
def check(
    directory: Annotated[Path, typer.Argument(help="A registry's repository on this host.", exists=True)],
    *,
    revision: Annotated[str, typer.Option(help="Branch or commit to look at.")] = "HEAD",
    severity: Annotated[Severity, typer.Option(help="The mildest problems to show.")] = Severity.NOTICE,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON document instead of lines.")] = False,
) -> None:
    """Show what is wrong with each object, by grammar and by the registry's own schemas.

    By file and line; exit status 1 where there is an error.
    """
    shown = list(Severity)[: list(Severity).index(severity) + 1]

    async def look() -> None:
        files = await _files(directory, revision)
        problems = _everything_wrong(files)
        counts = Counter(problem.severity for _, problem in problems)
        listed = [(path, problem) for path, problem in problems if problem.severity in shown]
        if as_json:
            typer.echo(_document(len(files), listed, counts))
        for path, problem in listed if not as_json else ():
            place = path if problem.line is None else f"{path}:{problem.line}"
            typer.echo(f"{place}: {problem.severity}: {problem.detail} [{problem.code}]")
        summary = ", ".join(f"{counts[each]} {each}s" for each in Severity)
        typer.echo(f"{len(files)} files: {summary}", err=True)
        if counts[Severity.ERROR]:
            raise typer.Exit(1)

    run(look())


def _everything_wrong(files: Sequence[FileVersion]) -> list[tuple[str, Problem | Finding]]:
    """What a sync would record, and what the registry's own schemas say beyond that."""
    problems = find_problems(files)
    found: list[tuple[str, Problem | Finding]] = [*problems]
    told: dict[str, list[Problem]] = {}
    for path, problem in problems:
        told.setdefault(path, []).append(problem)
    for path, finding in find_findings(files):
        found += [(path, each) for each in beyond(told.get(path, []), [finding])]
    return sorted(found, key=lambda each: (each[0], each[1].line or 0, each[1].code))


def _document(
    files: int, listed: Sequence[tuple[str, Problem | Finding]], counts: Mapping[Severity, int]
) -> str:
    rows = [{"path": path, "severity": problem.severity, **problem._asdict()} for path, problem in listed]
    document = {"files": files, "counts": {each.value: counts[each] for each in Severity}, "problems": rows}
    return json.dumps(document, indent=1, ensure_ascii=False)


@app.command("policy")
def policy(
    directory: Annotated[Path, typer.Argument(help="A registry's repository on this host.", exists=True)],
    base: Annotated[str, typer.Argument(help="Branch or commit before the change.")],
    *,
    revision: Annotated[str, typer.Option(help="Branch or commit with the change.")] = "HEAD",
    maintainer: Annotated[
        str | None, typer.Option("--mntner", help="Who asks for the change; without it, names alone count.")
    ] = None,
) -> None:
    """Show what the registry's own rules have against a change; exit status 1 where there is anything."""

    async def look() -> None:
        before, after = [await _files(directory, each) for each in (base, revision)]
        objections = find_objections(before, after, maintainer)
        for path, code, detail in objections:
            typer.echo(f"{path}: {detail} [{code}]")
        if objections:
            raise typer.Exit(1)

    run(look())


@app.command("roas")
def roas(
    *,
    form: Annotated[
        RoaFormat, typer.Option("--format", help="For validators, BIRD 2 or OpenBGPD.")
    ] = RoaFormat.JSON,
    output: Annotated[Path | None, typer.Option(help="Replaced as a whole; without it, printed.")] = None,
) -> None:
    """Write the ROAs of the last sync; nothing is written where the registry was not seen for too long."""
    settings = _quietly()

    async def export() -> None:
        async with open_resources(settings) as resources:
            service = RoaService(resources.snapshots, settings.roas, resources.now)
            resources.snapshots.follow(service.take)
            await resources.snapshots.refresh()
            body = service.export(form).body
        if output is None:
            typer.echo(body.decode(), nl=False)
        else:
            await asyncio.to_thread(write_public, output, body)

    run(export())


def main() -> None:
    """Entry point of `python -m registry_server`."""
    app(prog_name="python -m registry_server")
