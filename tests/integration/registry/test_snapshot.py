"""The snapshot that the protocols answer from: of one sync, swapped as a whole, and never far behind SQL."""

from __future__ import annotations

import asyncio

import pytest

from registry_server.snapshot.schemas.content import Snapshot
from registry_server.snapshot.service import SnapshotKeeper
from registry_server.snapshot.tasks import SnapshotLoops
from shared.cache import Cache, Tier, open_cache
from shared.database import DatabaseUnavailable
from shared.testing.servers import KeyValueServer
from shared.testing.waiting import wait_until
from tests.integration.registry.conftest import Registries, Registry
from tests.integration.registry.network import FILES, route
from tests.integration.registry.upstream import Content, Upstream

NEW: dict[str | bytes, Content] = {"data/route/172.20.9.0_24": route("172.20.9.0/24", 4242429904)}


@pytest.fixture
async def registry(registries: Registries, upstream: Upstream) -> Registry:
    upstream.commit(FILES)
    return await registries.open(upstream)


def origins(snapshot: Snapshot | None) -> set[int]:
    assert snapshot is not None
    return {origin.origin for origin in snapshot.origins}


class TestRefresh:
    async def test_before_the_first_sync_there_is_none(self, registry: Registry) -> None:
        await registry.resources.snapshots.refresh()
        assert registry.resources.snapshots.current is None

    async def test_holds_what_the_sync_stored(self, registry: Registry) -> None:
        done = await registry.sync()
        keeper = registry.resources.snapshots
        await keeper.refresh()
        snapshot = keeper.current
        assert snapshot is not None
        assert (snapshot.facts.version, snapshot.facts.commit) == (done.id, done.to_commit)
        raws = await registry.raws()
        assert sorted(entry.raw for entry in snapshot.entries) == sorted(raws.values())
        assert set(snapshot.filters) == {"data/filter.txt", "data/filter6.txt"}
        assert set(snapshot.sets) == {"as-test", "as-sub", "as-empty", "rs-test", "rs-below"}

    async def test_reads_nothing_anew_where_nothing_was_synced(self, registry: Registry) -> None:
        await registry.sync()
        keeper = registry.resources.snapshots
        await keeper.refresh()
        before = keeper.current
        registry.clock.at = registry.clock.at.replace(hour=5)
        await registry.sync()
        await keeper.refresh()
        assert keeper.current is before
        assert keeper.checked_at == registry.clock.at

    async def test_the_filter_files_follow_their_changes(
        self, registry: Registry, upstream: Upstream
    ) -> None:
        await registry.sync()
        upstream.commit({"data/filter.txt": b"1 deny 0.0.0.0/0 0 32\n", "data/filter6.txt": None})
        await registry.sync()
        await registry.resources.snapshots.refresh()
        snapshot = registry.resources.snapshots.current
        assert snapshot is not None
        assert snapshot.filters == {"data/filter.txt": b"1 deny 0.0.0.0/0 0 32\n"}

    async def test_those_who_answer_from_it_have_taken_it_before_it_is_the_current_one(
        self, registry: Registry
    ) -> None:
        await registry.sync()
        keeper = registry.resources.snapshots
        seen: list[tuple[int, bool]] = []

        async def follow(snapshot: Snapshot) -> None:
            await asyncio.sleep(0)
            seen.append((snapshot.facts.version, keeper.current is None))

        keeper.follow(follow)
        await asyncio.gather(keeper.refresh(), keeper.refresh())
        assert seen == [(1, True)]

    async def test_readers_see_the_old_sync_until_the_new_one_is_whole(
        self, registry: Registry, upstream: Upstream
    ) -> None:
        await registry.sync()
        keeper = registry.resources.snapshots
        await keeper.refresh()
        released = asyncio.Event()

        async def slow(_snapshot: Snapshot) -> None:
            await released.wait()

        keeper.follow(slow)
        upstream.commit(NEW)
        await registry.sync()
        taking = asyncio.create_task(keeper.refresh())
        await asyncio.sleep(0)
        assert 4242429904 not in origins(keeper.current)
        released.set()
        await taking
        assert 4242429904 in origins(keeper.current)

    async def test_goes_on_with_the_last_one_while_sql_is_away(self, registry: Registry) -> None:
        await registry.sync()
        keeper = registry.resources.snapshots
        await keeper.refresh()
        before = keeper.current

        class Away:
            def reading(self) -> None:
                raise DatabaseUnavailable

        keeper._database = Away()  # type: ignore[assignment]
        loops = SnapshotLoops(keeper, registry.resources.cache)
        await loops.look()
        assert keeper.current is before


@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
class TestHints:
    async def test_another_worker_hears_of_a_sync_and_reads_it_at_once(
        self, registries: Registries, upstream: Upstream, redis: KeyValueServer
    ) -> None:
        upstream.commit(FILES)
        settings = registries.settings(upstream)
        cache = settings.cache.model_validate({"url": redis.url, "namespace": f"t{id(registries)}"})
        here = await registries.open_with(settings.model_copy(update={"cache": cache}))
        elsewhere = SnapshotKeeper(here.resources.database)
        tier: Cache = open_cache(cache, Tier.CACHE, "other", 3)
        loops = SnapshotLoops(elsewhere, tier)
        listening = asyncio.create_task(loops.listen())
        try:
            await here.sync()
            await wait_until(lambda: elsewhere.current is not None)
            await wait_until(lambda: tier_listens(tier))
            upstream.commit(NEW)
            await here.sync()
            await wait_until(lambda: 4242429904 in origins(elsewhere.current))
        finally:
            listening.cancel()
            await asyncio.gather(listening, return_exceptions=True)
            await tier.aclose()

    async def test_without_a_tier_there_is_the_look_each_second_alone(self, registry: Registry) -> None:
        loops = SnapshotLoops(registry.resources.snapshots, registry.resources.cache).loops()
        assert [loop.name for loop in loops] == ["registry.snapshot"]
        assert all(loop.interval.total_seconds() * (1 + loop.jitter) <= 1 for loop in loops)


def tier_listens(tier: Cache) -> bool:
    hub = tier._hub
    return hub is not None and hub.connected
