"""Bytes are counted exactly, and refused before they are kept: cases C4, C12, C13, C17, C18, C21."""

import asyncio

import pytest

from shared.runtime_state import (
    MemoryLimits,
    RedisRuntimeClient,
    RuntimeStateBatch,
    RuntimeStateCapacityExceeded,
    RuntimeStateStats,
    RuntimeStateTypeError,
)
from tests.contracts.runtime_state.subjects import HandClock, MemorySubject, memory_subject

BIG = 300


async def held(state: RedisRuntimeClient) -> int:
    size = (await state.stats()).approx_bytes
    assert size is not None
    return size


async def fill(state: RedisRuntimeClient, *, ex: int | None = None) -> None:
    """Three items of 300 bytes and something: a fourth does not fit."""
    for name in ("x", "y", "z"):
        await state.set(name, "v" * (BIG - 20), ex=ex)


def filled(state: RedisRuntimeClient) -> RuntimeStateBatch:
    batch = state.batch()
    batch.set("a", "new")
    batch.expire("b", 500)
    batch.hset("h", {"f": "v" * 1000})
    batch.delete("c")
    return batch


class TestCounting:
    async def test_counts_prefix_key_and_value(self, memory: MemorySubject) -> None:
        await memory.client.set("kéy", "välue")
        assert await held(memory.client) == len((memory.prefix + "kéy").encode()) + len("välue".encode())

    async def test_counts_fields_and_their_values(self, memory: MemorySubject) -> None:
        await memory.client.hset("h", {"field": "value", "g": 12345})
        assert await held(memory.client) == len(memory.prefix + "h" + "fieldvalueg12345")

    @pytest.mark.parametrize(
        "name", ["overwrite", "field", "growth", "type", "expiry", "zero", "counter", "batch", "refused"]
    )
    async def test_c17_every_way_back_leads_to_the_start(
        self, state: RedisRuntimeClient, clock: HandClock, name: str
    ) -> None:
        await state.set("s", "v" * 50, ex=60)
        await state.hset("h", {"f": "v" * 50})
        await state.set("n", 9)
        start = await held(state)
        await getattr(self, f"_{name}")(state, clock)
        assert await held(state) == start

    async def _overwrite(self, state: RedisRuntimeClient, clock: HandClock) -> None:
        await state.set("s", "v" * 10)
        await state.set("s", "w" * 50)

    async def _field(self, state: RedisRuntimeClient, clock: HandClock) -> None:
        await state.hset("h", {"f": ""})
        await state.hset("h", {"f": "w" * 50})

    async def _growth(self, state: RedisRuntimeClient, clock: HandClock) -> None:
        await state.hset("h", {"g": "v" * 90, "f": "w"})
        await state.delete("h")
        await state.hset("h", {"f": "v" * 50})

    async def _type(self, state: RedisRuntimeClient, clock: HandClock) -> None:
        await state.set("h", "text")
        await state.delete("h")
        await state.hset("h", {"f": "v" * 50})

    async def _expiry(self, state: RedisRuntimeClient, clock: HandClock) -> None:
        await state.set("t", "v" * 50, ex=5)
        await state.expire("t", 9)
        clock.advance(seconds=9)
        assert await state.get("t") is None

    async def _zero(self, state: RedisRuntimeClient, clock: HandClock) -> None:
        await state.set("t", "v" * 50)
        await state.expire("t", 0)
        await state.hset("u", {"f": "v" * 50})
        await state.expire("u", -1)

    async def _counter(self, state: RedisRuntimeClient, clock: HandClock) -> None:
        before = await held(state)
        await state.incr("n")
        assert await held(state) == before + 1
        await state.set("n", 9)

    async def _batch(self, state: RedisRuntimeClient, clock: HandClock) -> None:
        batch = state.batch()
        batch.set("t", "v" * 90)
        batch.hset("t2", {"f": "v"})
        batch.delete("t", "t2", "nothing")
        await batch.execute()

    async def _refused(self, state: RedisRuntimeClient, clock: HandClock) -> None:
        batch = state.batch()
        batch.set("t", "v")
        batch.hset("h", {"f": "w", "g": "v"})
        batch.expire("h", 60)
        batch.hset("h", {"f": "x", "g": "y"})
        batch.delete("h")
        batch.hset("n", {"f": 1})
        with pytest.raises(RuntimeStateTypeError):
            await batch.execute()
        assert await state.hgetall("h") == {b"f": b"v" * 50}
        assert await state.ttl("h") == -1

    async def test_a_sweep_gives_back_what_nobody_reads(
        self, state: RedisRuntimeClient, clock: HandClock
    ) -> None:
        await fill(state, ex=5)
        clock.advance(seconds=5)
        assert await held(state) > 0
        assert await state.sweep_expired() == 3
        assert await held(state) == 0


class TestC12Refusal:
    async def _prepared(self, state: RedisRuntimeClient) -> RuntimeStateStats:
        await state.set("a", "old")
        await state.set("b", "v", ex=100)
        await state.set("c", "v")
        await state.hset("h", {"f": "old"})
        return await state.stats()

    async def test_a_batch_with_one_item_too_large_changes_nothing(self, state: RedisRuntimeClient) -> None:
        before = await self._prepared(state)
        with pytest.raises(RuntimeStateCapacityExceeded) as caught:
            await filled(state).execute()
        assert caught.value.code == "RUNTIME_STATE_CAPACITY_EXCEEDED"
        assert caught.value.retry_after
        after = await state.stats()
        assert after.capacity_rejections == before.capacity_rejections + 1
        assert (after.active_keys, after.approx_bytes) == (before.active_keys, before.approx_bytes)
        assert await state.get("a") == b"old"
        assert await state.ttl("b") == 100
        assert await state.get("c") == b"v"
        assert await state.hgetall("h") == {b"f": b"old"}

    async def test_one_write_over_the_budget_changes_nothing(self, state: RedisRuntimeClient) -> None:
        await fill(state, ex=50)
        before = await held(state)
        for refused in (
            state.set("x", "v" * (BIG + 80)),
            state.set("new", "v" * BIG),
            state.hset("new", {"f": "v" * BIG}),
        ):
            with pytest.raises(RuntimeStateCapacityExceeded):
                await refused
        assert await held(state) == before
        assert await state.get("x") == b"v" * (BIG - 20)
        assert await state.ttl("x") == 50

    async def test_a_hash_may_not_grow_past_one_item(self, state: RedisRuntimeClient) -> None:
        await state.hset("h", {"f": "v" * 200})
        with pytest.raises(RuntimeStateCapacityExceeded):
            await state.hset("h", {"g": "v" * 200})
        assert await state.hgetall("h") == {b"f": b"v" * 200}

    async def test_exactly_the_limit_is_accepted(self) -> None:
        prefix_and_key = len("parity-" + "0" * 12 + ":k")
        async with memory_subject(MemoryLimits(100, 100)) as subject:
            assert await subject.client.set("k", "v" * (100 - prefix_and_key))
            with pytest.raises(RuntimeStateCapacityExceeded):
                await subject.client.set("k", "v" * (101 - prefix_and_key))

    async def test_a_counter_at_the_full_budget_is_refused_only_when_it_grows(self) -> None:
        size = len("parity-" + "0" * 12 + ":n") + 1
        async with memory_subject(MemoryLimits(size, size)) as subject:
            await subject.client.set("n", 8)
            assert await subject.client.incr("n") == 9
            with pytest.raises(RuntimeStateCapacityExceeded):
                await subject.client.incr("n")
            assert await subject.client.get("n") == b"9"


class TestC13FinalState:
    async def test_a_batch_that_frees_before_or_after_it_fills_is_judged_at_its_end(
        self, state: RedisRuntimeClient
    ) -> None:
        for freed_first in (True, False):
            await fill(state)
            batch = state.batch()
            if freed_first:
                batch.delete("x")
            batch.set("new", "v" * (BIG - 20))
            if not freed_first:
                batch.delete("x")
            await batch.execute()
            assert await state.get("new") is not None
            await state.delete("new", "x", "y", "z")


class TestC21DeadBytes:
    async def test_make_room_before_anything_is_refused(
        self, state: RedisRuntimeClient, clock: HandClock
    ) -> None:
        await fill(state, ex=5)
        clock.advance(milliseconds=4999)
        with pytest.raises(RuntimeStateCapacityExceeded):
            await state.set("new", "v" * BIG)
        clock.advance(milliseconds=1)
        assert await state.set("new", "v" * BIG)
        assert (await state.stats()).capacity_rejections == 1

    async def test_many_dead_keys_are_removed_in_slices_that_let_others_in(self) -> None:
        async with memory_subject(MemoryLimits(60_000, 60_000)) as subject:
            state = subject.client
            for n in range(1500):
                await state.set(f"{n:05}", "v" * 10, ex=5)
            subject.clock.advance(seconds=5)
            turns = 0
            writing = asyncio.create_task(state.set("new", "v" * 50_000))
            while not writing.done():
                await asyncio.sleep(0)
                turns += 1
            assert await writing
            assert turns > 3


class TestC18Counters:
    async def test_bytes_grow_only_with_digits(self, state: RedisRuntimeClient) -> None:
        await state.incr("n")
        start = await held(state)
        await asyncio.gather(*(state.incr("n") for _ in range(998)))
        assert await state.get("n") == b"999"
        assert await held(state) == start + 2

    @pytest.mark.soak
    @pytest.mark.timeout(300)
    async def test_a_million_from_two_hundred_tasks(self, state: RedisRuntimeClient) -> None:
        async def count() -> None:
            for n in range(5000):
                await state.incr("n")
                if n % 100 == 0:
                    await asyncio.sleep(0)

        await asyncio.gather(*(count() for _ in range(200)))
        assert await state.get("n") == b"1000000"
