"""A state exchanged together with what follows from it, an exchange alone, and new ends."""

import asyncio
from typing import Any

import pytest

from shared.cache import Advance, Key, LogStep, LogTarget
from tests.contracts.cache.subjects import Subject

TTL = 60


def target(subject: Subject, cap: int = 10) -> LogTarget:
    families = subject.families
    return LogTarget(families.logs(cap).key(id="a"), families.values.key(id="guard"))


def step(subject: Subject, seen: Any, following: Any, **more: Any) -> LogStep:
    return LogStep(
        target(subject, more.pop("cap", 10)), subject.families.used.key(id="a"), seen, following, **more
    )


async def guarded(subject: Subject) -> None:
    await subject.cache.set_json(target(subject).guard, {"job": True}, ttl_seconds=TTL)


async def ends(subject: Subject, *keys: Key) -> list[int]:
    return [await subject.ask("PTTL", subject.raw(key.name)) for key in keys]


class TestAdvance:
    async def test_numbers_what_follows_and_keeps_the_state(self, subject: Subject) -> None:
        await guarded(subject)
        first = await subject.cache.advance(step(subject, None, {"n": 1}), "one", ttl_seconds=TTL)
        second = await subject.cache.advance(
            step(subject, {"n": 1}, {"n": 3}), "two", "three", ttl_seconds=TTL
        )
        assert (first.outcome, first.sequence) == (Advance.DONE, 1)
        assert (second.outcome, second.sequence) == (Advance.DONE, 3)
        log = await subject.cache.read_log(target(subject).log)
        assert [(item.sequence, item.value) for item in log] == [(1, "one"), (2, "two"), (3, "three")]
        assert [item.sequence for item in await subject.cache.read_log(target(subject).log, -1)] == [3]

    async def test_whoever_saw_an_older_state_appends_nothing(self, subject: Subject) -> None:
        await guarded(subject)
        tries = [
            subject.cache.advance(step(subject, None, {"by": n}), f"of {n}", ttl_seconds=TTL)
            for n in range(8)
        ]
        outcomes = [result.outcome for result in await asyncio.gather(*tries)]
        assert sorted(outcomes) == [Advance.OVERTAKEN] * 7 + [Advance.DONE]
        assert len(await subject.cache.read_log(target(subject).log)) == 1

    async def test_without_its_guard_nothing_comes_to_be(self, subject: Subject) -> None:
        result = await subject.cache.advance(step(subject, None, {}), "late", ttl_seconds=TTL)
        assert result.outcome is Advance.GONE
        assert await subject.cache.read_log(target(subject).log) == []

    async def test_all_of_it_or_nothing_when_full(self, subject: Subject) -> None:
        await guarded(subject)
        result = await subject.cache.advance(step(subject, None, {"n": 1}, cap=2), *"abc", ttl_seconds=TTL)
        assert result.outcome is Advance.FULL
        assert await subject.cache.get_json(subject.families.used.key(id="a")) is None

    async def test_keeps_the_newest_and_goes_on_counting(self, subject: Subject) -> None:
        await guarded(subject)
        await subject.cache.advance(step(subject, None, {"n": 1}, keep_newest=2), *"abc", ttl_seconds=TTL)
        log = await subject.cache.read_log(target(subject).log)
        assert [(item.sequence, item.value) for item in log] == [(2, "b"), (3, "c")]

    async def test_nothing_is_left_without_an_end(self, subject: Subject) -> None:
        await guarded(subject)
        await subject.cache.advance(step(subject, None, {"n": 1}), "one", ttl_seconds=TTL)
        state = subject.families.used.key(id="a")
        assert all(0 < left <= TTL * 1000 for left in await ends(subject, state, target(subject).log))


class TestExchange:
    async def test_only_what_was_seen_is_replaced(self, subject: Subject) -> None:
        key = subject.families.values.key(id="a")
        await subject.cache.set_json(key, {"n": 1}, ttl_seconds=TTL)
        assert await subject.cache.exchange(key, {"n": 1}, {"n": 2}, ttl_seconds=TTL)
        assert not await subject.cache.exchange(key, {"n": 1}, {"n": 3}, ttl_seconds=TTL)
        assert await subject.cache.get_json(key) == {"n": 2}

    async def test_what_is_gone_is_not_brought_back(self, subject: Subject) -> None:
        key = subject.families.values.key(id="a")
        assert not await subject.cache.exchange(key, {"n": 1}, {"n": 2}, ttl_seconds=TTL)
        assert await subject.cache.get_json(key) is None


class TestKeep:
    async def test_gives_each_key_the_same_end(self, subject: Subject) -> None:
        keys = [subject.families.values.key(id=name) for name in "ab"]
        for key in keys:
            await subject.cache.set_json(key, 1, ttl_seconds=TTL)
        await subject.cache.keep(*keys, subject.families.values.key(id="absent"), ttl_seconds=5)
        assert all(0 < left <= 5000 for left in await ends(subject, *keys))

    @pytest.mark.parametrize("ttl", [0, -1])
    async def test_an_end_lies_ahead(self, subject: Subject, ttl: float) -> None:
        with pytest.raises(ValueError, match="TTL"):
            await subject.cache.keep(subject.families.values.key(id="a"), ttl_seconds=ttl)
