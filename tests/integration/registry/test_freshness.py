"""A mirror whose upstream is gone looks well, goes on answering, and says how old it is."""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

import httpx2
import pytest

from registry_server.app import create_app
from registry_server.mirror.errors import UpstreamUnavailable
from shared.testing.waiting import wait_until
from tests.integration.registry.conftest import Registries, Registry, client_of
from tests.integration.registry.objects import FILES
from tests.integration.registry.upstream import Upstream

pytestmark = pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
LIMIT = timedelta(hours=3)


@dataclass(frozen=True, slots=True)
class Watched:
    registry: Registry
    client: httpx2.AsyncClient

    async def later(self, step: timedelta) -> None:
        """Let time pass, with the look at SQL that each process makes meanwhile."""
        self.registry.clock.advance(step)
        await self.registry.resources.snapshots.refresh()

    async def ready(self) -> tuple[int, object]:
        answer = await self.client.get("/registry/readyz")
        return answer.status_code, answer.json().get("lag_seconds")

    async def status(self) -> tuple[int | None, bool]:
        found = (await self.client.get("/registry/api/v1/status")).json()
        return found["lag_seconds"], found["stale"]

    async def looked(self) -> bool:
        """Whether the look at upstream has ended that every start makes."""
        found = (await self.client.get("/registry/api/v1/status")).json()
        checked = datetime.fromisoformat(found["checked_at"])
        return found["running"] is None and checked == self.registry.clock()


@pytest.fixture
async def watched(registries: Registries, upstream: Upstream) -> AsyncIterator[Watched]:
    upstream.commit(FILES)
    registry = await registries.open(upstream, interval="PT24H", ready_within="PT3H")
    await registry.sync()
    registry.clock.advance(timedelta(seconds=1))
    async with client_of(create_app(registry.resources.settings, registry.resources)) as client:
        watched = Watched(registry, client)
        await wait_until(watched.looked)
        await registry.resources.snapshots.refresh()
        yield watched


async def test_after_a_while_without_upstream_it_is_not_ready_and_says_since_when(
    watched: Watched, upstream: Upstream, tmp_path: Path
) -> None:
    assert await watched.ready() == (200, None)
    assert await watched.status() == (0, False)
    upstream.directory.rename(tmp_path / "away")
    with pytest.raises(UpstreamUnavailable):
        await watched.registry.sync()
    await watched.later(LIMIT)
    assert (await watched.ready(), await watched.status()) == ((200, None), (10800, False))
    await watched.later(timedelta(seconds=1))
    assert (await watched.ready(), await watched.status()) == ((503, 10801), (10801, True))
    assert (await watched.client.get("/registry/api/v1/asn/AS4242429901")).status_code == 200
    assert "Upstream was not reached for long" in (await watched.client.get("/registry/sync")).text


async def test_the_status_is_not_sent_again_only_because_it_grew_older(watched: Watched) -> None:
    path = "/registry/api/v1/status"
    known = {"If-None-Match": (await watched.client.get(path)).headers["etag"]}
    await watched.later(timedelta(minutes=5))
    assert (await watched.client.get(path, headers=known)).status_code == 304
    await watched.later(LIMIT)
    stale = await watched.client.get(path, headers=known)
    assert (stale.status_code, stale.json()["lag_seconds"], stale.json()["stale"]) == (200, 11100, True)


async def test_a_look_that_went_well_makes_it_ready_again_without_a_change(watched: Watched) -> None:
    await watched.later(LIMIT * 2)
    assert (await watched.ready())[0] == 503
    await watched.registry.sync()
    await watched.later(timedelta(0))
    assert (await watched.ready(), await watched.status()) == ((200, None), (0, False))


async def test_a_process_that_never_saw_a_sync_counts_from_its_start(
    registries: Registries, upstream: Upstream
) -> None:
    registry = await registries.open(upstream, interval="PT24H", ready_within="PT3H")
    async with client_of(create_app(registry.resources.settings, registry.resources)) as client:
        watched = Watched(registry, client)
        assert (await watched.ready())[0] == 200
        await watched.later(LIMIT * 2)
        assert (await watched.ready())[0] == 503
        assert await watched.status() == (None, False)
