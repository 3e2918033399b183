"""The mirror and the look-ups of the registry, against git reading the same objects.

    python -m tests.benchmarks.bench_registry_mirror

A made-up registry of 20,000 objects and 300 commits. `git cat-file --batch` of all its objects is the least
that any reader must do. Goals: to parse and index it, with the transaction, in at most five times that; a
sync of 1 to 20 commits in at most 50 ms. A first sync also asks git what each commit changed, and stores it.
PostgreSQL is as it comes: it waits for the disk at each commit, and keeps its indexes while rows arrive, as
readers must not wait. Times are the best of some rounds, with the processor time of this process beside them,
which a busy machine changes less. Look-ups go through the whole application in this process, by the cache
tier where it has the record, and by SQL.
"""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import httpx2
from sqlalchemy import text

from registry_server.app import create_app
from registry_server.mirror.schemas import SyncTrigger
from registry_server.resources import open_resources
from registry_server.samples.schemas import SamplePlan
from registry_server.samples.service import generate
from registry_server.settings import RegistrySettings
from shared.database import DatabaseSettings, open_database
from shared.database.migrations import upgrade
from shared.testing.servers import postgres_server, redis_server, valkey_state_server
from shared.testing.servers.ports import free_loopback_port
from shared.web.logs import LogFormat, configure_logs

OBJECTS, COMMITS = int(os.environ.get("BENCH_OBJECTS", "20000")), 300
FULL_GOAL, STEP_GOAL, MEMORY_GOAL = 5.0, 0.050, 120
ROUNDS, REQUESTS, CONNECTIONS = 6, 400, 8
STEPS = (1, 20)
INDEX = ("objects", "object_references", "routes", "networks", "object_texts", "problems", "filter_files")
HISTORY = ("commits", "object_changes")


class Took(NamedTuple):
    """Seconds by the clock, and of this process's processor time."""

    wall: float
    processor: float


class Stopwatch:
    """From now on."""

    def __init__(self) -> None:
        self._began = (time.perf_counter(), time.process_time())

    def read(self) -> Took:
        return Took(time.perf_counter() - self._began[0], time.process_time() - self._began[1])


@dataclass(frozen=True, slots=True)
class Bench:
    """One registry on one database."""

    directory: Path
    upstream: Path
    database: str
    cache: str | None

    def settings(self, name: str, branch: str | None = None) -> RegistrySettings:
        chosen: dict[str, Any] = {
            "database": {"url": self.database},
            "state_directory": self.directory / name,
            "mirror": {"url": str(self.upstream), "drop_share": 1, "branch": branch, "interval": "PT24H"},
        }
        if self.cache:
            chosen["cache"] = {"url": self.cache, "deadline": "PT5S"}
        return RegistrySettings.model_validate(chosen)


class Nobody:
    """Is told of syncs and does nothing."""

    def synced(self, *_told: object) -> None:
        """Nothing."""


def git(directory: Path, *arguments: str, stdin: bytes = b"") -> bytes:
    command = ["git", "-C", str(directory), *arguments]
    return subprocess.run(command, input=stdin, check=True, stdout=subprocess.PIPE).stdout


def least(directory: Path) -> Took:
    """In which git prints every object of the tip, with the processor time of git itself."""
    names = git(directory, "ls-tree", "-r", "--format=%(objectname)", "master")
    return best_of_git(directory, "cat-file", "--batch", stdin=names)


def least_history(directory: Path) -> Took:
    """In which git tells what each commit changed."""
    return best_of_git(directory, "log", "--first-parent", "--root", "--raw", "--no-renames", "master")


def best_of_git(directory: Path, *arguments: str, stdin: bytes = b"") -> Took:
    found = []
    for _ in range(ROUNDS):
        watch, before = Stopwatch(), os.times()
        git(directory, *arguments, stdin=stdin)
        after = os.times()
        spent = after.children_user + after.children_system - before.children_user - before.children_system
        found.append(Took(watch.read().wall, spent))
    return min(found)


async def full(bench: Bench) -> tuple[Took, Took]:
    """Everything that was fetched before is read, parsed, indexed and committed.

    Once with the history, as a first sync does, and once where it is known, as for a new grammar.
    """
    found: dict[bool, list[Took]] = {True: [], False: []}
    for number in range(ROUNDS):
        for first in (True, False):
            await empty(bench.database, (*INDEX, *HISTORY) if first else INDEX)
            async with open_resources(bench.settings(f"full-{number}")) as resources:
                await resources.upstream.prepare()
                await resources.upstream.fetch()
                watch = Stopwatch()
                await resources.mirror(Nobody()).sync(SyncTrigger.REQUEST)
                found[first].append(watch.read())
    return min(found[True]), min(found[False])


async def steps(bench: Bench, count: int) -> Took:
    """A sync of so many new commits that were fetched before."""
    line = git(bench.upstream, "rev-list", "--first-parent", "master").decode().split()
    found = []
    for number in range(ROUNDS):
        git(bench.upstream, "update-ref", "refs/heads/work", line[(number + 1) * count])
        async with open_resources(bench.settings(f"steps-{count}-{number}", "work")) as resources:
            mirror = resources.mirror(Nobody())
            await mirror.sync(SyncTrigger.REQUEST, force=True)
            git(bench.upstream, "update-ref", "refs/heads/work", line[number * count])
            await resources.upstream.fetch()
            watch = Stopwatch()
            done = await mirror.sync(SyncTrigger.REQUEST, force=True)
            found.append(watch.read())
        if done.mode != "incremental":
            sys.exit("the sync was not incremental")
    return min(found)


async def empty(database: str, tables: Sequence[str]) -> None:
    """A schema of the newest version without a row in these tables."""
    opened = open_database(DatabaseSettings.model_validate({"url": database}))
    await upgrade(opened, "registry_server")
    async with opened.transaction() as session:
        await session.execute(text("UPDATE mirror_state SET version = 0, \"commit\" = NULL, counts = '{}'"))
        for table in tables:
            # What PostgreSQL has deleted stays in its indexes for a while; these held nothing yet.
            forget = "TRUNCATE" if opened.dialect == "postgresql" else "DELETE FROM"
            await session.execute(text(f"{forget} {table}"))
    await opened.close()


async def look_ups(bench: Bench) -> dict[str, float]:
    """Requests a second of each look-up."""
    settings = bench.settings("look-ups")
    async with open_resources(settings) as resources:
        await resources.mirror(Nobody()).sync(SyncTrigger.REQUEST)
        app = create_app(settings, resources)
        async with app.router.lifespan_context(app):
            transport = httpx2.ASGITransport(app=app)
            async with httpx2.AsyncClient(transport=transport, base_url="http://localhost:8420") as client:
                return {path: await rate(client, path) for path in await questions(client)}


async def questions(client: httpx2.AsyncClient) -> list[str]:
    api = "/registry/api/v1"
    listed = (await client.get(f"{api}/objects/aut-num", params={"limit": 1})).json()["items"]
    asn = listed[0]["key"]
    paths = ("asn/{}", "routes?origin={}", "objects/aut-num/{}", "prefix/172.20.0.1", "search?q=example")
    return [f"{api}/{path.format(asn)}" for path in paths]


async def rate(client: httpx2.AsyncClient, path: str) -> float:
    async def ask() -> None:
        for _ in range(REQUESTS // CONNECTIONS):
            (await client.get(path)).raise_for_status()

    watch = Stopwatch()
    await asyncio.gather(*(ask() for _ in range(CONNECTIONS)))
    return REQUESTS / watch.read().wall


async def measure(bench: Bench, name: str) -> bool:
    before = least(bench.upstream)
    first, whole = await full(bench)
    # A machine that others use too is as slow for git as for us only at the same time.
    bottom, history = min(before, least(bench.upstream)), least_history(bench.upstream)
    for what, took in (("cat-file --batch", bottom), ("log --raw", history)):
        print(f"git {what:<30}        {took.wall:7.3f} s ({took.processor:.3f} s)", flush=True)
    ratio = whole.wall / bottom.wall
    good = report(f"{name}: parse and index", whole, f"{ratio:.1f} x cat-file", met=ratio <= FULL_GOAL)
    together = first.wall / (bottom.wall + history.wall)
    shown = f"{first.wall / bottom.wall:.1f} x cat-file, {together:.1f} x cat-file and log"
    report(f"{name}: first sync, with the history", first, shown)
    for count in STEPS:
        took = await steps(bench, count)
        shown = f"{took.wall * 1000:.0f} ms"
        good &= report(f"{name}: sync of {count} commits", took, shown, met=took.wall <= STEP_GOAL)
    for path, found in (await look_ups(bench)).items():
        print(f"{name}: {path:<56} {found:7.0f} requests/s", flush=True)
    return good


def report(what: str, took: Took, shown: str, *, met: bool | None = None) -> bool:
    times = f"{took.wall:7.3f} s ({took.processor:.3f} s of processor)"
    verdict = "" if met is None else "goal met" if met else "goal missed"
    print(f"{what:<48} {times}   {shown:<16} {verdict}".rstrip(), flush=True)
    return met is not False


def resident(bench: Bench) -> int:
    """MiB of a server that answers from what was synced, by itself in a process."""
    settings = {
        "DATABASE__URL": bench.database,
        "STATE_DIRECTORY": str(bench.directory / "look-ups"),
        "MIRROR__URL": str(bench.upstream),
        "WEB__PORT": str(free_loopback_port()),
    }
    environment = {**os.environ, **{f"ROUTELOOM_REGISTRY_{name}": value for name, value in settings.items()}}
    log = bench.directory / "server.log"
    with log.open("wb") as written:
        command = [sys.executable, "-m", "registry_server", "serve"]
        server = subprocess.Popen(command, env=environment, stdout=written, stderr=written)
    try:
        while "snapshot_taken" not in log.read_text():
            if server.poll() is not None:
                sys.exit(f"the server ended: {log.read_text()}")
            time.sleep(0.2)
        time.sleep(2)
        status = Path(f"/proc/{server.pid}/status").read_text()
        return int(status.partition("VmRSS:")[2].split()[0]) // 1024
    finally:
        server.terminate()
        server.wait()


def libraries() -> int:
    """MiB of a process that has only imported what the server imports."""
    program = "import registry_server.commands; print(open('/proc/self/status').read())"
    printed = subprocess.run(
        [sys.executable, "-c", program], check=True, capture_output=True, text=True
    ).stdout
    return int(printed.partition("VmRSS:")[2].split()[0]) // 1024


async def main() -> int:
    configure_logs(level="ERROR", form=LogFormat.CONSOLE)
    with tempfile.TemporaryDirectory(prefix="routeloom-bench-") as place:
        directory = Path(place)
        upstream = directory / "upstream.git"
        generate(SamplePlan(objects=OBJECTS, commits=COMMITS), upstream)
        plain = Bench(directory, upstream, f"sqlite:///{directory}/registry.db", None)
        good = await measure(plain, "SQLite, no tier")
        memory = resident(plain)
        verdict = "met" if memory <= MEMORY_GOAL else "missed"
        print(f"memory of a server: {memory} MiB, of its libraries alone {libraries()} MiB", end="")
        print(f"   goal of {MEMORY_GOAL} MiB {verdict}", flush=True)
        with (
            postgres_server(directory / "pg", settings={}) as postgres,
            redis_server(directory / "redis") as redis,
            valkey_state_server(directory / "state") as state,
            postgres.database() as url,
        ):
            os.environ["REDIS_URL"] = state.url
            tiers = Bench(directory / "full", upstream, url, redis.url)
            good &= await measure(tiers, "PostgreSQL, Redis")
    return 0 if good and memory <= MEMORY_GOAL else 1


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
