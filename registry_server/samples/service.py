"""Writes a sample as a bare git repository that can be cloned and mirrored."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from random import Random

from registry_server.samples.errors import SampleDirectoryTaken, SampleNotWritten
from registry_server.samples.rules import history, world
from registry_server.samples.rules.stream import BRANCH, SIDE_BRANCH, stream
from registry_server.samples.schemas import Commit, Manifest, PlantedProblem, SampleFile, SamplePlan

MANIFEST = "routeloom-manifest.json"
_REWRITTEN = 3


def generate(plan: SamplePlan, directory: Path) -> Manifest:
    """Write the sample and its manifest into the directory, which is new, empty or an older sample.

    A new one appears whole or not at all, whenever the process dies.
    """
    if directory.exists() and any(directory.iterdir()):
        if not (directory / MANIFEST).exists():
            raise SampleDirectoryTaken(f"{directory} holds something else; choose an empty directory")
        return _write(plan, directory)
    unfinished = directory.with_name(f".{directory.name}.unfinished")
    shutil.rmtree(unfinished, ignore_errors=True)
    manifest = _write(plan, unfinished)
    unfinished.replace(directory)
    return manifest


def _write(plan: SamplePlan, directory: Path) -> Manifest:
    files, commits = imagine(plan)
    directory.mkdir(parents=True, exist_ok=True)
    _git(directory, "init", "--quiet", "--bare", f"--initial-branch={BRANCH.decode().rsplit('/', 1)[-1]}")
    _git(directory, "fast-import", "--quiet", "--force", "--done", stdin=b"".join(stream(commits)))
    _git(directory, "update-ref", "-d", SIDE_BRANCH.decode())
    head = _git(directory, "rev-parse", BRANCH.decode()).decode().strip()
    manifest = _manifest(plan, files, commits, head)
    (directory / MANIFEST).write_text(manifest.model_dump_json(indent=1) + "\n")
    return manifest


def imagine(plan: SamplePlan) -> tuple[list[SampleFile], list[Commit]]:
    """The files at the tip and the history that leads there."""
    random = Random(plan.seed)  # noqa: S311 - reproducible on purpose
    files = world.build(random, plan.objects)
    commits = history.build(random, _state(files), plan.commits)
    if plan.force_push:
        gone = [file for file in files if file.routes and not file.problems][-_REWRITTEN:]
        files = [file for file in files if file not in gone]
        commits = history.rewrite(commits, _REWRITTEN, _state(files))
    return files, commits


def _state(files: Iterable[SampleFile]) -> dict[bytes, bytes]:
    return {file.path: file.raw for file in files}


def _manifest(plan: SamplePlan, files: list[SampleFile], commits: list[Commit], head: str) -> Manifest:
    routes: Counter[str] = Counter()
    for file in files:
        if file.object_class and file.routes:
            routes[file.object_class] += file.routes
    planted = [
        PlantedProblem(path=file.path.decode(), code=problem.code, line=problem.line)
        for file in files
        for problem in file.problems
    ]
    return Manifest(
        plan=plan,
        head=head,
        commits=len(commits),
        objects=dict(sorted(Counter(file.object_class for file in files if file.object_class).items())),
        routes=dict(sorted(routes.items())),
        problems=dict(sorted(Counter(problem.code for problem in planted).items())),
        planted=planted,
    )


def _git(directory: Path, *arguments: str, stdin: bytes = b"") -> bytes:
    """Run git on the sample and on nothing else: no configuration of the caller, no prompt."""
    environment = {
        "PATH": os.environ.get("PATH", os.defpath),
        "GIT_DIR": str(directory),
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_TERMINAL_PROMPT": "0",
    }
    try:
        done = subprocess.run(  # noqa: S603 - a fixed program and our own arguments
            ["git", *arguments],  # noqa: S607 - git is where the operator's PATH says
            input=stdin,
            env=environment,
            capture_output=True,
            check=True,
        )
    except FileNotFoundError:
        raise SampleNotWritten("git is not installed") from None
    except subprocess.CalledProcessError as failed:
        raise SampleNotWritten(
            f"git {arguments[0]}: {failed.stderr.decode(errors='replace')[-500:]}"
        ) from failed
    return done.stdout
