"""The cache tier and its version, against Redis: no reader ever sees old data under a new version."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

import pytest

from registry_server.keys import ASN_RECORD, VERSION
from registry_server.lookup.errors import AsnUnknown
from registry_server.lookup.service import LookupService, VersionedAnswers
from registry_server.lookup.store import Kept, RecordStore
from shared.cache import Key
from shared.testing.servers import KeyValueServer
from tests.integration.registry.conftest import Registries, Registry
from tests.integration.registry.objects import ASN, FILES
from tests.integration.registry.upstream import Content, Upstream

RENAMED: dict[str | bytes, Content] = {"data/aut-num/AS4242429901": ASN.replace("FOO-AS", "BAR-AS").encode()}


@pytest.fixture
async def registry(registries: Registries, upstream: Upstream, redis: KeyValueServer) -> Registry:
    upstream.commit(FILES)
    settings = registries.settings(upstream)
    namespace = f"t{id(registries)}"
    cache = settings.cache.model_validate({"url": redis.url, "namespace": namespace, "deadline": "PT5S"})
    return await registries.open_with(settings.model_copy(update={"cache": cache}))


def lookups(registry: Registry, store: RecordStore | None = None) -> LookupService:
    answers = VersionedAnswers(registry.resources.database, store or RecordStore(registry.resources.cache))
    return LookupService(answers)


async def version(registry: Registry) -> int | None:
    return await RecordStore(registry.resources.cache).version()


@dataclass(frozen=True, slots=True)
class PausingStore(RecordStore):
    """Does something else between the look at the tier and the look at SQL."""

    meanwhile: Callable[[], Awaitable[Any]]

    async def find(self, key: Key, version: int) -> Kept | None:
        found = await RecordStore.find(self, key, version)
        await self.meanwhile()
        return found


@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
class TestVersion:
    async def test_is_the_number_of_the_applied_sync(self, registry: Registry, upstream: Upstream) -> None:
        first = await registry.sync()
        assert await version(registry) == first.id
        upstream.commit(RENAMED)
        second = await registry.sync()
        assert await version(registry) == second.id > first.id

    async def test_an_evicted_counter_comes_back_where_it_was(self, registry: Registry) -> None:
        done = await registry.sync()
        await registry.resources.cache.delete(VERSION.key())
        await registry.mirror.heal()
        assert await version(registry) == done.id

    async def test_a_death_between_commit_and_version_heals_at_the_next_look(
        self, registry: Registry, registries: Registries, upstream: Upstream
    ) -> None:
        await registry.sync()
        await lookups(registry).asn("AS4242429901")
        upstream.commit(RENAMED)
        settings = registry.resources.settings
        silent = settings.model_copy(update={"cache": registries.settings(upstream).cache})
        applied = await (await registries.open_with(silent)).sync()
        await registry.mirror.heal()
        assert await version(registry) == applied.id
        assert (await lookups(registry).asn("AS4242429901")).as_name == "BAR-AS"

    async def test_goes_past_what_the_tier_has_reached_when_the_database_was_restored(
        self, registry: Registry
    ) -> None:
        await registry.resources.cache.bump_version(VERSION.key(), at_least=70)
        done = await registry.sync()
        assert done.id == 71
        assert await version(registry) == 71


class TestRecords:
    async def test_are_read_from_the_tier_the_second_time(self, registry: Registry) -> None:
        done = await registry.sync()
        first = await lookups(registry).asn("AS4242429901")
        key = ASN_RECORD.key(version=done.id, asn=4242429901)
        stored = await registry.resources.cache.get_json(key)
        assert stored == {"version": done.id, "record": first.model_dump(mode="json")}
        stored["record"]["as_name"] = "FROM-THE-TIER"
        await registry.resources.cache.set_json(key, stored, ttl_seconds=60)
        assert (await lookups(registry).asn("as4242429901")).as_name == "FROM-THE-TIER"

    async def test_outlive_a_restart_of_the_same_version(
        self, registries: Registries, registry: Registry
    ) -> None:
        done = await registry.sync()
        await lookups(registry).asn("AS4242429901")
        again = await registries.open_with(registry.resources.settings)
        await again.mirror.heal()
        assert await version(again) == done.id
        key = ASN_RECORD.key(version=done.id, asn=4242429901)
        stored = await again.resources.cache.get_json(key)
        stored["record"]["as_name"] = "FROM-THE-TIER"
        await again.resources.cache.set_json(key, stored, ttl_seconds=60)
        assert (await lookups(again).asn("AS4242429901")).as_name == "FROM-THE-TIER"

    async def test_that_there_is_none_is_kept_too(self, registry: Registry) -> None:
        done = await registry.sync()
        with pytest.raises(AsnUnknown):
            await lookups(registry).asn("AS1")
        key = ASN_RECORD.key(version=done.id, asn=1)
        assert await registry.resources.cache.get_json(key) == {"version": done.id, "record": None}
        with pytest.raises(AsnUnknown):
            await lookups(registry).asn("AS1")

    async def test_a_reader_paused_between_tier_and_sql_keeps_nothing(
        self, registry: Registry, upstream: Upstream
    ) -> None:
        old = await registry.sync()
        upstream.commit(RENAMED)
        store = PausingStore(registry.resources.cache, registry.sync)
        answered = await lookups(registry, store).asn("AS4242429901")
        new = await version(registry)
        assert answered.as_name == "BAR-AS"
        cache = registry.resources.cache
        for number in (old.id, new):
            assert await cache.get_json(ASN_RECORD.key(version=number or 0, asn=4242429901)) is None

    async def test_a_record_of_another_sync_under_this_version_is_not_believed(
        self, registry: Registry
    ) -> None:
        done = await registry.sync()
        key = ASN_RECORD.key(version=done.id, asn=4242429901)
        stale = {"version": done.id - 1, "record": {"as_name": "STALE"}}
        await registry.resources.cache.set_json(key, stale, ttl_seconds=60)
        assert (await lookups(registry).asn("AS4242429901")).as_name == "FOO-AS"

    async def test_readers_beside_syncs_see_the_old_version_and_then_the_new_one(
        self, registry: Registry, upstream: Upstream
    ) -> None:
        """Each commit names its AS and its route alike, so a mix would show."""
        await registry.sync()
        ended = asyncio.Event()

        async def read() -> list[str]:
            seen = []
            while not ended.is_set():
                seen.append((await lookups(registry).asn("AS4242429901")).as_name or "")
                await asyncio.sleep(0)
            return seen

        readers = [asyncio.create_task(read()) for _ in range(4)]
        for step in range(5):
            name = ASN.replace("FOO-AS", f"STEP-{step}").encode()
            upstream.commit({"data/aut-num/AS4242429901": name})
            await registry.sync()
            assert (await lookups(registry).asn("AS4242429901")).as_name == f"STEP-{step}"
        ended.set()
        for seen in await asyncio.gather(*readers):
            steps = ["FOO-AS", *(f"STEP-{step}" for step in range(5))]
            positions = [steps.index(name) for name in seen]
            assert positions == sorted(positions)


@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
class TestWithoutTheTier:
    async def test_a_dead_tier_changes_no_answer(
        self, registries: Registries, upstream: Upstream, registry: Registry
    ) -> None:
        settings = registries.settings(upstream)
        dead = settings.cache.model_validate({"url": "redis://127.0.0.1:1/3"})
        alone = await registries.open_with(settings.model_copy(update={"cache": dead}))
        await alone.sync()
        assert (await lookups(alone).asn("AS4242429901")).as_name == "FOO-AS"
        upstream.commit(RENAMED)
        await alone.sync()
        assert (await lookups(alone).asn("AS4242429901")).as_name == "BAR-AS"
