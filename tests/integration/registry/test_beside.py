"""Large registries are parsed by a process of their own: a sync is the same, whatever becomes of it."""

import pytest

from registry_server.mirror.schemas import SyncMode, SyncOutcome
from registry_server.objects import service
from registry_server.objects.schemas import IndexRows
from registry_server.objects.store.beside import ParsingProcess
from registry_server.samples.schemas import Manifest
from tests.integration.registry.conftest import Registries, Registry
from tests.integration.registry.upstream import Upstream


@pytest.fixture(autouse=True)
def every_registry_is_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(service, "_MANY", 1)
    monkeypatch.setattr("os.cpu_count", lambda: 2)


async def check(registry: Registry, upstream: Upstream, manifest: Manifest) -> None:
    """A sync gives what was planted, byte for byte."""
    done = await registry.sync()
    assert (done.outcome, done.mode, done.to_commit) == (SyncOutcome.APPLIED, SyncMode.FULL, manifest.head)
    assert done.changed == sum(path.startswith("data/") for path in upstream.blobs())
    counts = (await registry.mirror.status()).counts
    assert (counts.objects, counts.routes) == (manifest.objects, manifest.routes)
    assert counts.problems == manifest.problems
    planted = sorted(((each.path, each.code, each.line) for each in manifest.planted), key=str)
    assert await registry.problems() == planted
    raws, blobs = await registry.raws(), upstream.blobs()
    assert {path: blobs[path] for path in raws} == raws


async def test_gives_what_was_planted(
    registries: Registries, sample: tuple[Upstream, Manifest], monkeypatch: pytest.MonkeyPatch
) -> None:
    begun = []
    begin = ParsingProcess.__init__

    def noting(self: ParsingProcess) -> None:
        begin(self)
        begun.append(self)

    monkeypatch.setattr(ParsingProcess, "__init__", noting)
    upstream, manifest = sample
    await check(await registries.open(upstream), upstream, manifest)
    assert len(begun) == 1


async def test_a_lost_process_is_done_without(
    registries: Registries, sample: tuple[Upstream, Manifest], monkeypatch: pytest.MonkeyPatch
) -> None:
    receive = ParsingProcess.receive

    def dying(self: ParsingProcess) -> IndexRows | None:
        self.end()
        return receive(self)

    monkeypatch.setattr(ParsingProcess, "receive", dying)
    upstream, manifest = sample
    await check(await registries.open(upstream), upstream, manifest)
