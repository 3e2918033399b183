"""Keys that are read a few times a TTL: kept warm beside their readers, and no longer than they are read."""

import pytest

from shared.cache import Kind
from tests.contracts.cache.subjects import Subject, eventually
from tests.contracts.cache.test_loading import Origin


class TestRefreshAhead:
    async def test_a_hit_in_the_last_part_is_answered_and_loaded_anew(self, subject: Subject) -> None:
        family = subject.families.family("warm", refresh_ahead=True)
        key, origin = family.key(id=1), Origin("old")
        await subject.cache.get_or_load(key, origin, ttl_seconds=30)
        await subject.ask("PEXPIRE", subject.raw("warm:1"), 14_000)
        origin.answer = "new"
        assert await subject.cache.get_or_load(key, origin, ttl_seconds=30) == "old"

        async def refreshed() -> bool:
            return bool(await subject.cache.get_json(key) == "new")

        await eventually(refreshed)
        assert 29_000 < await subject.ask("PTTL", subject.raw("warm:1")) <= 30_000
        assert ("warm", "get", "miss") not in subject.recorder.results[2:]

    async def test_a_hit_in_the_first_part_loads_nothing(self, subject: Subject) -> None:
        family = subject.families.family("warm", refresh_ahead=True)
        key, origin = family.key(id=1), Origin()
        for _ in range(20):
            await subject.cache.get_or_load(key, origin, ttl_seconds=30)
        assert origin.loads == 1

    async def test_many_readers_refresh_once(self, subject: Subject) -> None:
        family = subject.families.family("warm", refresh_ahead=True)
        key, origin = family.key(id=1), Origin()
        await subject.cache.get_or_load(key, origin, ttl_seconds=30)
        await subject.ask("PEXPIRE", subject.raw("warm:1"), 14_000)
        origin.gate.clear()
        for _ in range(20):
            await subject.cache.get_or_load(key, origin, ttl_seconds=30)
        await eventually(lambda: origin.running)
        assert origin.loads == 2
        origin.gate.set()

    async def test_does_not_bring_a_revoked_value_back(self, subject: Subject) -> None:
        family = subject.families.family("warm", refresh_ahead=True)
        key, origin = family.key(id=1), Origin("still valid")
        await subject.cache.get_or_load(key, origin, ttl_seconds=30)
        await subject.ask("PEXPIRE", subject.raw("warm:1"), 14_000)
        origin.gate.clear()
        await subject.cache.get_or_load(key, origin, ttl_seconds=30)
        await eventually(lambda: origin.running)
        await subject.cache.revoke(key, ttl_seconds=60)
        origin.gate.set()
        await eventually(lambda: ("warm", "fill", "overtaken") in subject.recorder.results)
        assert await subject.cache.get_or_load(key, Origin("never"), ttl_seconds=30) is None

    async def test_what_has_gone_from_the_origin_goes_from_the_tier(self, subject: Subject) -> None:
        family = subject.families.values
        changed = subject.families.family("value", refresh_ahead=True, negative_ttl=family.negative_ttl)
        key, origin = changed.key(id=1), Origin("there")
        await subject.cache.get_or_load(key, origin, ttl_seconds=30)
        await subject.ask("PEXPIRE", subject.raw("value:1"), 14_000)
        origin.answer = None
        assert await subject.cache.get_or_load(key, origin, ttl_seconds=30) == "there"

        async def gone() -> bool:
            return await subject.cache.get_json(key) is None

        await eventually(gone)

    async def test_a_load_that_fails_leaves_the_value(self, subject: Subject) -> None:
        family = subject.families.family("warm", refresh_ahead=True)
        key, origin = family.key(id=1), Origin("old")
        await subject.cache.get_or_load(key, origin, ttl_seconds=30)
        await subject.ask("PEXPIRE", subject.raw("warm:1"), 14_000)
        origin.error = RuntimeError("the origin is away")
        for _ in range(3):
            assert await subject.cache.get_or_load(key, origin, ttl_seconds=30) == "old"
        await eventually(lambda: ("warm", "load", "load_failed") in subject.recorder.results)
        assert await subject.cache.get_or_load(key, origin, ttl_seconds=30) == "old"


class TestRenewal:
    async def test_a_hit_in_the_last_part_gets_the_whole_ttl(self, subject: Subject) -> None:
        key = subject.families.family("fixed", renewed=True).key(id=1)
        await subject.cache.set_json(key, "never changes", ttl_seconds=60)
        await subject.ask("PEXPIRE", subject.raw("fixed:1"), 29_000)
        assert await subject.cache.get_json(key) == "never changes"
        assert 59_000 < await subject.ask("PTTL", subject.raw("fixed:1")) <= 60_000

    async def test_what_nobody_reads_ends(self, subject: Subject) -> None:
        key = subject.families.family("fixed", renewed=True).key(id=1)
        await subject.cache.set_json(key, "never changes", ttl_seconds=60)
        await subject.ask("PEXPIRE", subject.raw("fixed:1"), 37_000)
        await subject.cache.get_json(key)
        assert await subject.ask("PTTL", subject.raw("fixed:1")) <= 37_000

    async def test_a_key_that_is_gone_is_not_made_again(self, subject: Subject) -> None:
        key = subject.families.family("fixed", renewed=True).key(id=1)
        assert await subject.cache.get_json(key) is None
        assert await subject.ask("EXISTS", subject.raw("fixed:1")) == 0

    async def test_a_tombstone_keeps_its_end(self, subject: Subject) -> None:
        key = subject.families.family("fixed", renewed=True).key(id=1)
        await subject.cache.revoke(key, ttl_seconds=20)
        assert await subject.cache.get_json(key) is None
        assert await subject.ask("PTTL", subject.raw("fixed:1")) <= 20_000

    async def test_a_value_is_read_where_the_tier_takes_no_writes(self, subject: Subject) -> None:
        key = subject.families.family("fixed", renewed=True).key(id=1)
        await subject.cache.set_json(key, "there", ttl_seconds=60)
        await subject.ask("PEXPIRE", subject.raw("fixed:1"), 29_000)
        await subject.ask("CONFIG", "SET", "min-replicas-to-write", 1)
        try:
            assert await subject.cache.get_json(key) == "there"
        finally:
            await subject.ask("CONFIG", "SET", "min-replicas-to-write", 0)

    def test_what_has_no_ttl_is_not_renewed(self, subject: Subject) -> None:
        with pytest.raises(ValueError, match="no renewal"):
            subject.families.family("bare", Kind.VERSION, renewed=True)
