"""A registry of the size of a real one, with every mistake in it."""

from pathlib import Path

import pytest

from registry_server.mirror.schemas import SyncMode
from registry_server.samples.schemas import SamplePlan
from registry_server.samples.service import generate
from tests.integration.registry.conftest import Registries
from tests.integration.registry.upstream import Upstream


@pytest.mark.soak
@pytest.mark.timeout(900)
async def test_twenty_thousand_objects_are_what_was_planted_and_follow_a_push_by_force(
    registries: Registries, tmp_path: Path
) -> None:
    directory = tmp_path / "sample"
    manifest = generate(SamplePlan(objects=20_000, commits=300), directory)
    upstream = Upstream(directory)
    registry = await registries.open(upstream)
    done = await registry.sync()
    counts = (await registry.mirror.status()).counts
    assert (done.to_commit, counts.objects, counts.routes, counts.problems) == (
        manifest.head,
        manifest.objects,
        manifest.routes,
        manifest.problems,
    )
    planted = sorted(((each.path, each.code, each.line) for each in manifest.planted), key=str)
    assert await registry.problems() == planted
    raws, blobs = await registry.raws(), upstream.blobs()
    assert {path: blobs[path] for path in raws} == raws

    rewritten = generate(SamplePlan(objects=20_000, commits=300, force_push=True), directory)
    done = await registry.sync()
    assert (done.mode, done.to_commit) == (SyncMode.FULL, rewritten.head)
    assert (await registry.mirror.status()).counts.problems == rewritten.problems
