"""Every object of a registry full of slips is told as git has it."""

from __future__ import annotations

import pytest

from registry_server.mirror.schemas import SyncTrigger
from registry_server.objects.rules.paths import show
from registry_server.samples.schemas import Manifest
from tests.integration.registry.clients import Wire
from tests.integration.registry.conftest import Registries
from tests.integration.registry.serving import serving
from tests.integration.registry.upstream import Upstream

pytestmark = pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)


async def test_each_text_is_that_of_the_repository(
    registries: Registries, sample: tuple[Upstream, Manifest]
) -> None:
    upstream, _ = sample
    async with serving(registries, upstream, None) as served, await Wire.to(served.whois) as wire:
        await served.app.state.mirror.sync(SyncTrigger.REQUEST)
        snapshot = served.snapshots.current
        assert snapshot is not None
        blobs = {show(path.encode()): raw for path, raw in upstream.blobs().items()}
        # A file of nothing but line ends has no text to tell.
        wanted = [entry for entry in snapshot.entries if entry.key.isprintable() and entry.raw.strip()]
        assert len(wanted) > 1400
        told = set(blobs.values())
        await wire.ask(b"!!\n!nall of it\n", b"C\n")
        for entry in wanted:
            assert entry.raw in told
            wire.send(f"!m{entry.object_class},{entry.key}\n".encode())
            head = await wire.reader.readline()
            assert head[:1] == b"A", entry.key
            payload = await wire.read(int(head[1:]))
            assert await wire.read(2) == b"C\n"
            first = snapshot.by_key[entry.folded]
            same_key = [snapshot.entries[place] for place in first]
            texts = [
                each.raw.replace(b"\r\n", b"\n").replace(b"\r", b"\n").strip(b"\n") + b"\n"
                for each in same_key
                if each.object_class == entry.object_class
            ]
            assert payload in texts
