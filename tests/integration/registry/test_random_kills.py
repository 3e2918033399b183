"""Syncs killed with SIGKILL wherever they happen to be, with somebody reading all the while."""

import asyncio
import hashlib
import json
import sys
import textwrap
import time
from contextlib import suppress
from dataclasses import dataclass
from random import Random

import pytest
from sqlalchemy import select

from registry_server.mirror.models import MirrorState
from registry_server.mirror.schemas import SyncOutcome
from registry_server.objects.models import ObjectRow, ReferenceRow, RouteRow
from registry_server.samples.schemas import Manifest
from tests.integration.registry.conftest import Registries, Registry
from tests.integration.registry.test_kills import ROOT, described
from tests.integration.registry.upstream import Upstream

PROGRAM = """
    import asyncio, sys
    from registry_server.mirror.schemas import SyncTrigger
    from registry_server.resources import open_resources
    from registry_server.settings import RegistrySettings

    class Nobody:
        def synced(self, sync, counts):
            pass

    async def main(settings):
        async with open_resources(RegistrySettings.model_validate_json(settings)) as resources:
            print("begins", flush=True)
            await resources.mirror(Nobody()).sync(SyncTrigger.REQUEST, force=True)

    asyncio.run(main(sys.argv[1]))
"""


@dataclass(slots=True)
class Reader:
    """Looks again and again, each time in one snapshot."""

    registry: Registry
    #: What each commit looks like as a whole.
    known: dict[str, str]
    looks: int = 0

    async def look(self) -> str:
        """The commit that is served. Fails for a mix."""
        digest = hashlib.sha256()
        async with self.registry.resources.database.reading() as session:
            commit = (await session.scalars(select(MirrorState.commit))).one() or ""
            for query in (
                select(ObjectRow.path, ObjectRow.blob).order_by(ObjectRow.path),
                select(RouteRow.prefix, RouteRow.origin).order_by(RouteRow.prefix, RouteRow.origin),
                select(ReferenceRow.target, ReferenceRow.line).order_by(
                    ReferenceRow.target, ReferenceRow.attribute, ReferenceRow.line, ReferenceRow.shown
                ),
            ):
                digest.update(repr([tuple(row) for row in await session.execute(query)]).encode())
        self.looks += 1
        assert self.known.setdefault(commit, digest.hexdigest()) == digest.hexdigest(), "half a sync"
        return commit

    async def go_on(self) -> None:
        while True:
            await self.look()


async def begun(registry: Registry) -> asyncio.subprocess.Process:
    """Another process that has just begun a sync."""
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-c",
        textwrap.dedent(PROGRAM),
        json.dumps(described(registry)),
        cwd=ROOT,
        stdout=asyncio.subprocess.PIPE,
    )
    assert process.stdout is not None
    async with asyncio.timeout(60):
        while b"begins" not in (line := await process.stdout.readline()):
            assert line, "it ended before it began"
    return process


@pytest.mark.parametrize(
    "kills", [pytest.param(3, id="a few"), pytest.param(20, id="twenty", marks=pytest.mark.soak)]
)
async def test_whenever_it_is_killed_readers_see_a_whole_state_and_the_next_sync_completes(
    registries: Registries, upstream: Upstream, sample: tuple[Upstream, Manifest], kills: int
) -> None:
    upstream.git("fetch", "--quiet", str(sample[0].directory), "+refs/heads/*:refs/heads/*")
    full = upstream.git("rev-parse", "master").strip()
    paths = [path for path in upstream.blobs(full) if path.startswith("data/")]
    thinned = upstream.commit(dict.fromkeys(paths[::3]))
    registry = await registries.open(upstream, drop_share=1)
    reader = Reader(registry, {})
    took = []
    for commit in (full, thinned, full):
        upstream.git("update-ref", "refs/heads/master", commit)
        started = time.monotonic()
        await registry.sync(force=True)
        took.append(time.monotonic() - started)
        assert await reader.look() == commit
    reading = asyncio.create_task(reader.go_on())
    random = Random(8)  # noqa: S311 - reproducible on purpose
    for number in range(kills):
        wanted = (thinned, full)[number % 2]
        upstream.git("update-ref", "refs/heads/master", wanted)
        process = await begun(registry)
        # Where it dies is left to chance: nothing is asserted of the time.
        await asyncio.wait([asyncio.create_task(process.wait())], timeout=random.uniform(0, max(took)))
        with suppress(ProcessLookupError):  # it may end at this very moment
            process.kill()
        await process.wait()
        assert await reader.look() in {full, thinned}
        done = await registry.sync(force=True)
        assert done.outcome in {SyncOutcome.APPLIED, SyncOutcome.UNCHANGED}
        assert await reader.look() == wanted
    assert not reading.done(), reading.exception()
    reading.cancel()
    await asyncio.wait([reading])
    assert reader.looks > kills
