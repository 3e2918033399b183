import asyncio

import pytest

from tests.contracts.cache.subjects import Subject


async def test_counts_every_one_of_many(subject: Subject) -> None:
    key = subject.families.counters.key(id=1)
    counts = await asyncio.gather(*(subject.cache.increment(key, ttl_seconds=900) for _ in range(50)))
    assert sorted(count.value for count in counts) == list(range(1, 51))


async def test_the_end_is_fixed_at_the_first_count(subject: Subject) -> None:
    key = subject.families.counters.key(id=1)
    first = await subject.cache.increment(key, ttl_seconds=10)
    later = await subject.cache.increment(key, ttl_seconds=900)
    assert first.ttl_seconds == 10
    assert later.ttl_seconds <= 10
    read = await subject.cache.read_counter(key)
    assert read is not None
    assert (read.value, read.ttl_seconds <= 10) == (2, True)


async def test_a_counter_that_lost_its_end_gets_one(subject: Subject) -> None:
    await subject.ask("SET", subject.raw("counter:1"), 7)
    counted = await subject.cache.increment(subject.families.counters.key(id=1), ttl_seconds=10)
    assert counted.value == 8
    assert 0 < await subject.ask("TTL", subject.raw("counter:1")) <= 10


async def test_what_was_never_counted_is_none(subject: Subject) -> None:
    assert await subject.cache.read_counter(subject.families.counters.key(id=1)) is None


async def test_counts_by_more_than_one(subject: Subject) -> None:
    key = subject.families.counters.key(id=1)
    assert (await subject.cache.increment(key, ttl_seconds=10, by=5)).value == 5
    assert await subject.cache.get_json(key) == 5


async def test_a_version_that_was_evicted_starts_where_sql_stands(subject: Subject) -> None:
    key = subject.families.versions.key(id=1)
    assert await subject.cache.bump_version(key, at_least=41) == 41
    assert await subject.cache.bump_version(key, at_least=41) == 42
    await subject.ask("DEL", subject.raw("version:1"))
    assert await subject.cache.get_json(key) is None
    assert await subject.cache.bump_version(key, at_least=43) == 43
    assert await subject.ask("TTL", subject.raw("version:1")) == -1


async def test_only_a_version_lives_for_ever(subject: Subject) -> None:
    with pytest.raises(ValueError, match="not a version"):
        await subject.cache.bump_version(subject.families.counters.key(id=1), at_least=1)
