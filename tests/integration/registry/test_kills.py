"""A sync killed with SIGKILL: the last good state is served, and the next sync completes."""

import asyncio
import json
import os
import signal
import sys
import textwrap
from pathlib import Path
from typing import Any

import pytest

from registry_server.mirror.errors import SyncRunning
from registry_server.mirror.schemas import SyncOutcome
from tests.integration.registry.conftest import Registries, Registry
from tests.integration.registry.objects import FILES
from tests.integration.registry.upstream import Upstream

ROOT = Path(__file__).parents[3]
#: Stops for ever at the named step, once the process has said so.
PROGRAM = """
    import asyncio, sys
    from registry_server.mirror import service
    from registry_server.mirror.repository import MirrorRepository
    from registry_server.mirror.schemas import SyncTrigger
    from registry_server.mirror.store.repository import BareRepository
    from registry_server.mirror.store.versions import Versions
    from registry_server.objects.repository.index import IndexRepository
    from registry_server.resources import open_resources
    from registry_server.settings import RegistrySettings

    OWNERS = {"fetch": BareRepository, "read": BareRepository, "remove": IndexRepository,
              "insert": IndexRepository, "mark_dangling_among": IndexRepository,
              "advance": MirrorRepository, "raise_to": Versions}

    class Nobody:
        def synced(self, sync, counts):
            pass

    async def main(step, settings):
        async def stop(*_arguments, **_options):
            print("reached", flush=True)
            await asyncio.Event().wait()
        real = getattr(OWNERS[step], step)
        async def after(*arguments, **options):
            await real(*arguments, **options)
            await stop()
        setattr(OWNERS[step], step, stop if step == "raise_to" else after)
        async with open_resources(RegistrySettings.model_validate_json(settings)) as resources:
            await resources.mirror(Nobody()).sync(SyncTrigger.REQUEST)

    asyncio.run(main(sys.argv[1], sys.argv[2]))
"""


def described(registry: Registry) -> dict[str, Any]:
    """The registry's settings for another process, secrets included."""
    settings = registry.resources.settings
    text: dict[str, Any] = settings.model_dump(mode="json")
    text["database"]["url"] = settings.database.url.get_secret_value()
    text["mirror"]["url"] = settings.mirror.url.get_secret_value() if settings.mirror.url else ""
    text["mirror"]["webhook_secret"] = None
    text["runtime_state"]["url"] = settings.runtime_state.url.get_secret_value()
    text["cache"]["url"] = None
    return text


async def stopped_at(step: str, registry: Registry) -> asyncio.subprocess.Process:
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-c",
        textwrap.dedent(PROGRAM),
        step,
        json.dumps(described(registry)),
        cwd=ROOT,
        stdout=asyncio.subprocess.PIPE,
    )
    assert process.stdout is not None
    async with asyncio.timeout(60):
        while b"reached" not in (line := await process.stdout.readline()):
            assert line, "it ended before the step"
    return process


class TestKilled:
    @pytest.mark.parametrize(
        ("database_url", "step"),
        [
            *(("sqlite", "insert"), ("sqlite", "advance"), ("sqlite", "raise_to")),
            *(("postgresql", "remove"), ("postgresql", "mark_dangling_among"), ("postgresql", "advance")),
        ],
        indirect=["database_url"],
    )
    async def test_at_any_step_leaves_a_whole_state(
        self, database_url: str, registries: Registries, upstream: Upstream, step: str
    ) -> None:
        upstream.commit(FILES)
        registry = await registries.open(upstream)
        await registry.sync()
        before, status = await registry.everything(), await registry.mirror.status()
        commit = upstream.commit({**dict.fromkeys(FILES), "data/mntner/BAR-MNT": b"mntner: BAR-MNT\n"})
        process = await stopped_at(step, registry)
        with pytest.raises(SyncRunning):
            await registry.sync()
        os.kill(process.pid, signal.SIGKILL)
        await process.wait()
        committed = step == "raise_to"
        assert (await registry.everything() == before) is not committed
        assert ((await registry.mirror.status()).version == status.version) is not committed
        done = await registry.sync()
        assert done.outcome is (SyncOutcome.UNCHANGED if committed else SyncOutcome.APPLIED)
        assert (await registry.mirror.status()).commit == commit
        assert list(await registry.raws()) == ["data/mntner/BAR-MNT"]
