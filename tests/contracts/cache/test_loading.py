import asyncio
from collections.abc import Callable, Coroutine, Sequence
from datetime import timedelta
from typing import Any

import pytest

from shared.cache import LoadRecentlyFailed
from shared.cache.transport import Command, Reply
from shared.kernel.errors import NotFound
from tests.contracts.cache.subjects import Subject, eventually, open_tier

Exchange = Callable[[Sequence[Command], float, Callable[[], bool]], Coroutine[Any, Any, list[Reply]]]


class Origin:
    """Counts its loads, and can be held, made to fail or to answer something else."""

    def __init__(self, answer: Any = "loaded") -> None:
        self.answer = answer
        self.error: Exception | None = None
        self.loads = 0
        self.running = 0
        self.most = 0
        self.gate = asyncio.Event()
        self.gate.set()

    async def __call__(self) -> Any:
        self.loads += 1
        self.running += 1
        self.most = max(self.most, self.running)
        try:
            await self.gate.wait()
            if self.error is not None:
                raise self.error
            return self.answer
        finally:
            self.running -= 1


class TestGetOrLoad:
    async def test_loads_once_and_then_reads(self, subject: Subject) -> None:
        key, origin = subject.families.values.key(id=1), Origin({"a": []})
        for _ in range(3):
            assert await subject.cache.get_or_load(key, origin, ttl_seconds=30) == {"a": []}
        assert origin.loads == 1
        assert 29_000 < await subject.ask("PTTL", subject.raw("value:1")) <= 30_000

    async def test_a_thousand_at_once_load_once(self, subject: Subject) -> None:
        key, origin = subject.families.values.key(id=1), Origin()
        origin.gate.clear()
        asking = [
            asyncio.create_task(subject.cache.get_or_load(key, origin, ttl_seconds=30)) for _ in range(1000)
        ]
        await eventually(lambda: origin.loads)
        origin.gate.set()
        assert set(await asyncio.gather(*asking)) == {"loaded"}
        # Those who asked after the first flight had landed found the value; nobody loaded a second time.
        assert origin.loads == 1

    async def test_a_leader_who_leaves_does_not_fail_the_followers(self, subject: Subject) -> None:
        key, origin = subject.families.values.key(id=1), Origin()
        origin.gate.clear()
        leader = asyncio.create_task(subject.cache.get_or_load(key, origin, ttl_seconds=30))
        await eventually(lambda: origin.loads)
        follower = asyncio.create_task(subject.cache.get_or_load(key, origin, ttl_seconds=30))
        await eventually(lambda: ("value", "get", "miss") in subject.recorder.results[1:])
        leader.cancel()
        await asyncio.gather(leader, return_exceptions=True)
        origin.gate.set()
        assert await follower == "loaded"
        assert origin.loads == 1

    async def test_the_last_who_leaves_ends_the_load(self, subject: Subject) -> None:
        key, origin = subject.families.values.key(id=1), Origin()
        origin.gate.clear()
        asking = asyncio.create_task(subject.cache.get_or_load(key, origin, ttl_seconds=30))
        await eventually(lambda: origin.running)
        asking.cancel()
        await asyncio.gather(asking, return_exceptions=True)
        await eventually(lambda: not origin.running)

    async def test_nothing_is_remembered_as_the_family_declares(self, subject: Subject) -> None:
        origin = Origin(None)
        for family in (subject.families.values, subject.families.texts):
            origin.loads = 0
            for _ in range(2):
                assert await subject.cache.get_or_load(family.key(id=1), origin, ttl_seconds=30) is None
            assert origin.loads == 1
            assert 4_000 < await subject.ask("PTTL", subject.raw(f"{family.name}:1")) <= 5_000
        forgetful = subject.families.family("forgetful")
        for _ in range(2):
            assert await subject.cache.get_or_load(forgetful.key(id=1), origin, ttl_seconds=30) is None
        assert await subject.ask("EXISTS", subject.raw("forgetful:1")) == 0

    async def test_a_ttl_of_nothing_switches_it_off(self, subject: Subject) -> None:
        key, origin = subject.families.values.key(id=1), Origin()
        for _ in range(2):
            assert await subject.cache.get_or_load(key, origin, ttl_seconds=0) == "loaded"
        assert origin.loads == 2
        assert await subject.ask("EXISTS", subject.raw("value:1")) == 0

    async def test_a_refusal_is_an_answer_and_is_not_remembered(self, subject: Subject) -> None:
        key, origin = subject.families.values.key(id=1), Origin()
        origin.error = NotFound()
        for _ in range(2):
            with pytest.raises(NotFound):
                await subject.cache.get_or_load(key, origin, ttl_seconds=30)
        assert origin.loads == 2

    async def test_a_failing_loader_is_not_asked_by_everybody(self, subject: Subject) -> None:
        key, origin = subject.families.values.key(id=1), Origin()
        origin.error = ConnectionRefusedError()
        with pytest.raises(ConnectionRefusedError):
            await subject.cache.get_or_load(key, origin, ttl_seconds=30)
        for _ in range(20):
            with pytest.raises(LoadRecentlyFailed):
                await subject.cache.get_or_load(key, origin, ttl_seconds=30)
        assert origin.loads == 1
        assert await subject.ask("EXISTS", subject.raw("value:1")) == 0

    async def test_a_failing_loader_is_asked_again_after_a_while(self, subject: Subject) -> None:
        family = subject.families.family("hasty", error_ttl=timedelta(0))
        origin = Origin()
        origin.error = ConnectionRefusedError()
        with pytest.raises(ConnectionRefusedError):
            await subject.cache.get_or_load(family.key(id=1), origin, ttl_seconds=30)
        origin.error = None
        assert await subject.cache.get_or_load(family.key(id=1), origin, ttl_seconds=30) == "loaded"


class TestStale:
    async def test_answers_while_loading_fails(self, subject: Subject) -> None:
        family = subject.families.family("kept", stale_ttl=timedelta(seconds=60))
        key, origin = family.key(id=1), Origin("old")
        await subject.cache.get_or_load(key, origin, ttl_seconds=30)
        await subject.ask("PEXPIRE", subject.raw("kept:1"), 59_000)  # as after 31 seconds
        origin.error = ConnectionRefusedError()
        for _ in range(5):
            assert await subject.cache.get_or_load(key, origin, ttl_seconds=30) == "old"
        assert origin.loads == 2
        assert subject.recorder.results.count(("kept", "load", "stale")) == 5

    async def test_is_replaced_when_loading_works(self, subject: Subject) -> None:
        family = subject.families.family("kept", stale_ttl=timedelta(seconds=60))
        key, origin = family.key(id=1), Origin("old")
        await subject.cache.get_or_load(key, origin, ttl_seconds=30)
        await subject.ask("PEXPIRE", subject.raw("kept:1"), 59_000)
        origin.answer = "new"
        assert await subject.cache.get_or_load(key, origin, ttl_seconds=30) == "new"
        assert 89_000 < await subject.ask("PTTL", subject.raw("kept:1")) <= 90_000


class TestEarlyRefresh:
    async def test_happens_beside_the_reader_near_the_end(self, subject: Subject) -> None:
        family = subject.families.family("dear", early_refresh=True)
        key, origin = family.key(id=1), Origin("old")
        subject.cache._loader._load_seconds["dear"] = 1e9
        await subject.cache.get_or_load(key, origin, ttl_seconds=30)
        subject.cache._loader._load_seconds["dear"] = 1e9
        origin.answer = "new"
        assert await subject.cache.get_or_load(key, origin, ttl_seconds=30) == "old"

        async def refreshed() -> bool:
            return bool(await subject.cache.get_json(key) == "new")

        await eventually(refreshed)

    async def test_does_not_happen_far_from_the_end(self, subject: Subject) -> None:
        family = subject.families.family("dear", early_refresh=True)
        key, origin = family.key(id=1), Origin()
        for _ in range(50):
            await subject.cache.get_or_load(key, origin, ttl_seconds=30)
        assert origin.loads == 1


class TestFillToken:
    async def test_who_has_none_serves_the_stale_value(self, subject: Subject) -> None:
        family = subject.families.family("costly", fill_token=True, stale_ttl=timedelta(seconds=60))
        key, origin = family.key(id=1), Origin("old")
        await subject.cache.get_or_load(key, origin, ttl_seconds=30)
        await subject.ask("PEXPIRE", subject.raw("costly:1"), 59_000)
        await subject.ask("SET", subject.raw("costly:1:fill"), "another process", "PX", 5_000)
        origin.answer = "new"
        assert await subject.cache.get_or_load(key, origin, ttl_seconds=30) == "old"

    async def test_who_has_none_and_nothing_stale_loads(self, subject: Subject) -> None:
        family = subject.families.family("costly", fill_token=True)
        await subject.ask("SET", subject.raw("costly:1:fill"), "another process", "PX", 5_000)
        assert await subject.cache.get_or_load(family.key(id=1), Origin(), ttl_seconds=30) == "loaded"
        assert await subject.ask("GET", subject.raw("costly:1:fill")) == b"another process"

    async def test_is_given_back(self, subject: Subject) -> None:
        family = subject.families.family("costly", fill_token=True)
        await subject.cache.get_or_load(family.key(id=1), Origin(), ttl_seconds=30)
        assert await subject.ask("EXISTS", subject.raw("costly:1:fill")) == 0


class TestFences:
    async def test_a_revoked_key_is_negative_without_loading(self, subject: Subject) -> None:
        key, origin = subject.families.values.key(id=1), Origin()
        await subject.cache.revoke(key, ttl_seconds=60)
        assert await subject.cache.get_or_load(key, origin, ttl_seconds=30) is None
        assert not origin.loads

    async def test_a_tombstone_is_not_loaded_over_where_stale_values_are_kept(self, subject: Subject) -> None:
        declared: dict[str, Any] = {"stale_ttl": timedelta(hours=1), "early_refresh": True}
        key, origin = subject.families.family("kept", **declared).key(id=1), Origin()
        subject.cache._loader._load_seconds["kept"] = 1e9
        await subject.cache.revoke(key, ttl_seconds=60)
        for _ in range(5):
            assert await subject.cache.get_or_load(key, origin, ttl_seconds=30) is None
        assert not origin.loads

    async def test_a_load_that_began_before_a_revocation_stores_nothing(self, subject: Subject) -> None:
        key, origin = subject.families.values.key(id=1), Origin("still valid")
        origin.gate.clear()
        reading = asyncio.create_task(subject.cache.get_or_load(key, origin, ttl_seconds=30))
        await eventually(lambda: origin.running)
        await subject.cache.revoke(key, ttl_seconds=60)
        origin.gate.set()
        await reading
        assert await subject.cache.get_or_load(key, origin, ttl_seconds=30) is None

    async def test_who_comes_after_a_revocation_joins_no_earlier_load(self, subject: Subject) -> None:
        key, origin = subject.families.values.key(id=1), Origin("still valid")
        origin.gate.clear()
        reading = asyncio.create_task(subject.cache.get_or_load(key, origin, ttl_seconds=30))
        await eventually(lambda: origin.running)
        await subject.cache.revoke(key, ttl_seconds=60)
        await subject.ask("DEL", subject.raw("value:1"))  # evicted at once
        later = asyncio.create_task(subject.cache.get_or_load(key, Origin("revoked"), ttl_seconds=30))
        assert await later == "revoked"
        origin.gate.set()
        assert await reading == "still valid"
        assert await subject.cache.get_json(key) == "revoked"

    async def test_an_early_refresh_does_not_bring_a_revoked_value_back(self, subject: Subject) -> None:
        family = subject.families.family("kept", stale_ttl=timedelta(seconds=60))
        key, origin = family.key(id=1), Origin("still valid")
        await subject.cache.get_or_load(key, origin, ttl_seconds=30)
        await subject.ask("PEXPIRE", subject.raw("kept:1"), 59_000)
        origin.gate.clear()
        refreshing = asyncio.create_task(subject.cache.get_or_load(key, origin, ttl_seconds=30))
        await eventually(lambda: origin.running)
        await subject.cache.revoke(key, ttl_seconds=60)
        origin.gate.set()
        await refreshing
        assert await subject.cache.get_json(key) is None

    async def test_an_invalidated_key_is_loaded_anew(self, subject: Subject) -> None:
        key, origin = subject.families.values.key(id=1), Origin("old")
        await subject.cache.get_or_load(key, origin, ttl_seconds=30)
        await subject.cache.invalidate(key, ttl_seconds=60)
        assert await subject.cache.get_json(key) is None
        origin.answer = "new"
        assert await subject.cache.get_or_load(key, origin, ttl_seconds=30) == "new"
        assert await subject.cache.get_json(key) == "new"

    async def test_a_load_that_began_before_an_invalidation_stores_nothing(self, subject: Subject) -> None:
        key, origin = subject.families.values.key(id=1), Origin("old")
        origin.gate.clear()
        reading = asyncio.create_task(subject.cache.get_or_load(key, origin, ttl_seconds=30))
        await eventually(lambda: origin.running)
        await subject.cache.invalidate(key, ttl_seconds=60)
        origin.gate.set()
        assert await reading == "old"
        assert await subject.cache.get_or_load(key, Origin("new"), ttl_seconds=30) == "new"

    async def test_fill_unless_revoked_fills_only_emptiness(self, subject: Subject) -> None:
        key = subject.families.values.key(id=1)
        assert await subject.cache.fill_unless_revoked(key, "first", ttl_seconds=30)
        assert not await subject.cache.fill_unless_revoked(key, "second", ttl_seconds=30)
        await subject.cache.revoke(key, ttl_seconds=30)
        assert not await subject.cache.fill_unless_revoked(key, "third", ttl_seconds=30)
        assert await subject.cache.get_json(key) is None

    @pytest.mark.parametrize("step", range(6))
    async def test_no_interleaving_accepts_a_token_after_its_revocation(
        self, subject: Subject, step: int
    ) -> None:
        """The reader is held at each of its awaits in turn, while another process revokes from end to end."""
        key = subject.families.values.key(id=1)
        another = open_tier(subject.settings, subject.cache.tier)
        turnstile, valid = Turnstile(step), True

        async def look_up() -> str | None:
            await turnstile.passed()
            found = "valid" if valid else None
            await turnstile.passed()
            return found

        transport = subject.cache.gateway.transport
        assert transport is not None
        transport.exchange = turnstile.around(transport.exchange)  # type: ignore[method-assign, assignment]
        reading = asyncio.create_task(subject.cache.get_or_load(key, look_up, ttl_seconds=30))
        await eventually(lambda: turnstile.held or reading.done())
        valid = False
        await another.revoke(key, ttl_seconds=60)
        turnstile.opens.set()
        await reading
        for cache in (subject.cache, another):
            assert await cache.get_or_load(key, look_up, ttl_seconds=30) is None
        await another.aclose()
        assert turnstile.held


class Turnstile:
    """Counts who passes and holds the one whose turn it is."""

    def __init__(self, held_at: int) -> None:
        self.held_at = held_at
        self.count = 0
        self.held = False
        self.opens = asyncio.Event()

    async def passed(self) -> None:
        self.count += 1
        if self.count - 1 == self.held_at:
            self.held = True
            await self.opens.wait()

    def around(self, exchange: Exchange) -> Exchange:
        async def exchanged(
            commands: Sequence[Command], at: float, given_up: Callable[[], bool] = lambda: False
        ) -> list[Reply]:
            await self.passed()
            replies = await exchange(commands, at + 60, given_up)
            await self.passed()
            return replies

        return exchanged
