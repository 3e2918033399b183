import asyncio
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from shared.cache import OutcomeUnknown, PayloadError, TakeOutcome, Tier
from tests.contracts.cache.subjects import Subject

AWKWARD = [
    {"list": [], "object": {}, "float": 1.0, "big": 2**53 + 1, "null": None},
    "点 \x00 \r\n$5\r\n",
    0,
    False,
    "",
    [1, [2, [3]]],
]


@pytest.mark.parametrize("value", AWKWARD)
async def test_a_value_comes_back_as_it_was(subject: Subject, value: Any) -> None:
    key = subject.families.values.key(id="a")
    await subject.cache.set_json(key, value, ttl_seconds=30)
    found = await subject.cache.get_json(key)
    assert found == value
    assert type(found) is type(value)


async def test_every_write_carries_its_ttl(subject: Subject) -> None:
    families, cache = subject.families, subject.cache
    await cache.set_json(families.values.key(id=1), 1, ttl_seconds=30)
    await cache.set_json_if_absent(families.values.key(id=2), 1, ttl_seconds=30)
    await cache.increment(families.counters.key(id=1), ttl_seconds=30)
    await cache.append(families.windows.key(id=1), 1, ttl_seconds=30)
    await cache.push_window(families.windows.key(id=2), 1, ttl_seconds=30)
    await cache.revoke(families.values.key(id=3), ttl_seconds=30)
    await cache.invalidate(families.values.key(id=4), ttl_seconds=30)
    names = [name async for name in cache.names()]
    assert len(names) == 7
    for name in names:
        assert 29_000 < await subject.ask("PTTL", subject.raw(name)) <= 30_000


@pytest.mark.parametrize("ttl", [0, -1, float("nan"), float("inf")])
async def test_refuses_a_ttl_that_is_none(subject: Subject, ttl: float) -> None:
    with pytest.raises(ValueError, match="TTL"):
        await subject.cache.set_json(subject.families.values.key(id=1), 1, ttl_seconds=ttl)


@pytest.mark.parametrize("value", [None, float("nan"), b"bytes", {1, 2}, "\ud800"])
async def test_refuses_what_is_not_json_and_stays_usable(subject: Subject, value: Any) -> None:
    key = subject.families.values.key(id=1)
    with pytest.raises(PayloadError):
        await subject.cache.set_json(key, value, ttl_seconds=5)
    await subject.cache.set_json(key, "fine", ttl_seconds=5)
    assert await subject.cache.get_json(key) == "fine"


async def test_varies_the_ttl_by_a_tenth_where_the_family_allows(subject: Subject) -> None:
    family = subject.families.family("varied", jitter=0.1)
    for number in range(40):
        await subject.cache.set_json(family.key(id=number), 1, ttl_seconds=100)
    left = [await subject.ask("PTTL", subject.raw(f"varied:{number}")) for number in range(40)]
    assert 89_000 < min(left) < 99_000
    assert 101_000 < max(left) <= 110_000


async def test_many_values_come_in_the_order_of_their_keys(subject: Subject) -> None:
    keys = [subject.families.values.key(id=number) for number in range(3)]
    await subject.cache.set_json(keys[0], "first", ttl_seconds=5)
    await subject.cache.set_json(keys[2], "third", ttl_seconds=5)
    assert await subject.cache.get_many_json(keys) == ["first", None, "third"]
    assert await subject.cache.get_many_json([]) == []


async def test_of_many_who_set_if_absent_one_wins(subject: Subject) -> None:
    key = subject.families.values.key(id=1)
    won = await asyncio.gather(
        *(subject.cache.set_json_if_absent(key, number, ttl_seconds=5) for number in range(30))
    )
    assert sorted(won) == [False] * 29 + [True]
    assert await subject.cache.get_json(key) == won.index(True)


async def test_of_many_who_take_one_gets_it(subject: Subject) -> None:
    key = subject.families.values.key(id=1)
    await subject.cache.set_json(key, "only", ttl_seconds=5)
    taken = await asyncio.gather(*(subject.cache.take_json(key) for _ in range(30)))
    assert sorted(taken, key=str) == [None] * 29 + ["only"]


async def test_of_many_who_redeem_one_takes_and_all_others_see_a_replay(subject: Subject) -> None:
    code, used = subject.families.values.key(id="code"), subject.families.used.key(id="code")
    await subject.cache.set_json(code, {"family": "f1"}, ttl_seconds=120)
    outcomes = await asyncio.gather(
        *(subject.cache.take_and_tombstone(code, used, ttl_seconds=600) for _ in range(30))
    )
    assert [taken.outcome for taken in outcomes].count(TakeOutcome.TAKEN) == 1
    assert [taken.outcome for taken in outcomes].count(TakeOutcome.REPLAYED) == 29
    assert all(taken.value == {"family": "f1"} for taken in outcomes)
    assert 590_000 < await subject.ask("PTTL", subject.raw("used:code")) <= 600_000


async def test_what_was_never_there_is_no_replay(subject: Subject) -> None:
    code, used = subject.families.values.key(id="x"), subject.families.used.key(id="x")
    taken = await subject.cache.take_and_tombstone(code, used, ttl_seconds=600)
    assert (taken.outcome, taken.value) == (TakeOutcome.ABSENT, None)
    assert await subject.cache.get_json(used) is None


async def test_moves_the_value_into_the_tombstone_unread(subject: Subject) -> None:
    """Lua's JSON would turn [] into {}, 1.0 into 1 and a large number into a float."""
    code, used = subject.families.values.key(id=1), subject.families.used.key(id=1)
    await subject.cache.set_json(code, AWKWARD[0], ttl_seconds=5)
    before = await subject.ask("GET", subject.raw("value:1"))
    await subject.cache.take_and_tombstone(code, used, ttl_seconds=5)
    assert await subject.ask("GET", subject.raw("used:1")) == before


async def test_deletes_many_at_once(subject: Subject) -> None:
    keys = [subject.families.values.key(id=number) for number in range(3)]
    await subject.cache.set_json(keys[0], 1, ttl_seconds=5)
    assert await subject.cache.delete(*keys) == 1
    assert await subject.cache.delete() == 0


async def test_a_text_family_holds_text_and_remembers_emptiness(subject: Subject) -> None:
    key = subject.families.texts.key(id=1)
    await subject.cache.set_json(key, "EXAMPLE-AS", ttl_seconds=5)
    assert await subject.cache.get_json(key) == "EXAMPLE-AS"
    assert await subject.ask("GET", subject.raw("text:1")) == b"EXAMPLE-AS"
    with pytest.raises(PayloadError):
        await subject.cache.set_json(key, "", ttl_seconds=5)


async def test_an_undecodable_value_is_missing_and_goes_only_where_sql_has_it(subject: Subject) -> None:
    key = subject.families.values.key(id=1)
    await subject.ask("SET", subject.raw("value:1"), b'{"v":9,"d":"of a later release"}', "EX", 60)
    assert await subject.cache.get_json(key) is None
    assert ("value", "get", "undecodable") in subject.recorder.results
    kept = await subject.ask("EXISTS", subject.raw("value:1"))
    assert kept == (1 if subject.cache.tier is Tier.KV else 0)


@pytest.mark.parametrize("raw", [b"\xff\xfe", b"{", b"[1]", b"7", b'{"v":1}', b"[" * 100_000])
async def test_no_stored_bytes_make_a_read_fail(subject: Subject, raw: bytes) -> None:
    key = subject.families.values.key(id=1)
    await subject.ask("SET", subject.raw("value:1"), raw, "EX", 60)
    assert await subject.cache.get_json(key) is None
    assert await subject.cache.get_many_json([key]) == [None]


async def test_a_key_of_another_type_is_a_miss_to_readers(subject: Subject) -> None:
    await subject.ask("RPUSH", subject.raw("value:1"), "x")
    await subject.ask("EXPIRE", subject.raw("value:1"), 60)
    assert await subject.cache.get_json(subject.families.values.key(id=1)) is None
    await subject.ask("SET", subject.raw("window:1"), "x", "EX", 60)
    assert await subject.cache.read_list(subject.families.windows.key(id=1)) == []


async def test_refuses_a_key_of_the_other_tier(subject: Subject) -> None:
    other = Tier.CACHE if subject.cache.tier is Tier.KV else Tier.KV
    foreign = type(subject.families)(other).values.key(id=1)
    with pytest.raises(ValueError, match="belongs to"):
        await subject.cache.get_json(foreign)


async def test_refuses_a_value_beyond_the_familys_cap(subject: Subject) -> None:
    family = subject.families.family("capped", cap=50)
    with pytest.raises(PayloadError):
        await subject.cache.set_json(family.key(id=1), "x" * 50, ttl_seconds=5)


async def test_tells_the_servers_time(subject: Subject) -> None:
    assert abs(await subject.cache.server_time() - datetime.now(UTC)) < timedelta(seconds=5)


async def test_lives_in_its_database_under_its_namespace_and_name(subject: Subject) -> None:
    await subject.cache.set_json(subject.families.values.key(id=1), 1, ttl_seconds=5)
    clients = await subject.ask("CLIENT", "LIST")
    assert f"name=routeloom:tests:{subject.cache.tier} ".encode() in clients
    assert await subject.ask("EXISTS", subject.raw("value:1")) == 1


async def test_nothing_is_unknown_when_everything_is_answered(subject: Subject) -> None:
    await subject.cache.set_json(subject.families.values.key(id=1), 1, ttl_seconds=5)
    assert not subject.recorder.reasons
    assert OutcomeUnknown.code == "tier_outcome_unknown"
