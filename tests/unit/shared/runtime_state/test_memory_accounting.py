"""Whatever happens in whatever order, the sum kept along the way equals a count from scratch."""

from __future__ import annotations

import random
from collections.abc import Awaitable, Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shared.runtime_state import (
    MemoryLimits,
    RuntimeStateBatch,
    RuntimeStateCapacityExceeded,
    RuntimeStateTypeError,
    RuntimeStateValueError,
)
from shared.runtime_state.memory_backend import InMemoryRuntimeStateBackend
from shared.runtime_state.memory_store import MemoryStore
from tests.contracts.runtime_state.subjects import MemorySubject, memory_subject

REFUSED = (RuntimeStateCapacityExceeded, RuntimeStateTypeError, RuntimeStateValueError)
LIMITS = MemoryLimits(4000, 600)


def store_of(subject: MemorySubject) -> MemoryStore:
    backend = subject.client._backend
    assert isinstance(backend, InMemoryRuntimeStateBackend)
    return backend._store


def recount(store: MemoryStore) -> int:
    return sum(
        len(key)
        + (
            len(entry.value)
            if isinstance(entry.value, bytes)
            else sum(len(name) + len(value) for name, value in entry.value.items())
        )
        for key, entry in store._entries.items()
    )


def deadlines(store: MemoryStore) -> set[tuple[int, bytes]]:
    return {pair for pairs in store._deadlines._by_second.values() for pair in pairs}


def check(subject: MemorySubject) -> None:
    store = store_of(subject)
    assert store.size == recount(store) <= LIMITS.max_bytes
    kept = {(entry.deadline, key) for key, entry in store._entries.items() if entry.deadline is not None}
    assert deadlines(store) == kept
    assert sorted(store._deadlines._by_second) == store._deadlines._seconds


class Dice:
    """Operations drawn from a seeded source."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)  # noqa: S311 - dice that a failure can throw again

    def key(self) -> str:
        return self.random.choice("abcdefgh")

    def value(self) -> str:
        return self.random.choice(["7", "-1", "v" * self.random.randrange(500)])

    def mapping(self) -> dict[str, str]:
        return {self.random.choice("fghij"): self.value() for _ in range(self.random.randint(1, 4))}

    def seconds(self) -> int:
        return self.random.choice([-1, 0, 1, 2, 3, 60])

    def lifetime(self) -> int | None:
        return self.random.choice([None, 1, 2, 3, 60])

    def batch(self, batch: RuntimeStateBatch) -> RuntimeStateBatch:
        for _ in range(self.random.randint(0, 6)):
            match self.random.randrange(4):
                case 0:
                    batch.set(self.key(), self.value(), ex=self.lifetime(), nx=self.random.random() < 0.3)
                case 1:
                    batch.hset(self.key(), self.mapping())
                case 2:
                    batch.expire(self.key(), self.seconds())
                case _:
                    batch.delete(self.key(), self.key())
        return batch

    def operation(self, subject: MemorySubject) -> Callable[[], Awaitable[object]]:
        state = subject.client
        return self.random.choice(
            [
                lambda: state.set(
                    self.key(), self.value(), ex=self.lifetime(), nx=self.random.random() < 0.3
                ),
                lambda: state.hset(self.key(), self.mapping()),
                lambda: state.incr(self.key()),
                lambda: state.expire(self.key(), self.seconds()),
                lambda: state.delete(self.key(), self.key()),
                lambda: state.get(self.key()),
                lambda: state.hgetall(self.key()),
                lambda: self.batch(state.batch()).execute(),
                state.sweep_expired,
            ]
        )

    async def perform(self, subject: MemorySubject) -> bool:
        subject.clock.advance(milliseconds=self.random.randrange(300))
        try:
            await self.operation(subject)()
        except REFUSED:
            return False
        return True


@pytest.mark.parametrize("seed", [1, 2])
async def test_after_ten_thousand_random_operations_the_sum_equals_a_recount(seed: int) -> None:
    dice = Dice(seed)
    refused = 0
    async with memory_subject(LIMITS) as subject:
        for turn in range(10_000):
            refused += not await dice.perform(subject)
            if turn % 500 == 0:
                check(subject)
        check(subject)
        assert refused > 100, "the operations never met a limit or a clash"
        subject.clock.advance(seconds=120)
        await subject.client.delete(*"abcdefgh")
        await subject.client.sweep_expired()
        assert store_of(subject).size == 0
        assert deadlines(store_of(subject)) == set()


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 2**32), turns=st.integers(1, 60))
async def test_a_refused_write_leaves_every_byte_and_deadline_as_it_was(seed: int, turns: int) -> None:
    dice = Dice(seed)
    async with memory_subject(LIMITS) as subject:
        for _ in range(turns):
            store = store_of(subject)
            await subject.client.sweep_expired()
            batch = dice.batch(subject.client.batch())
            before = {
                key: (entry.deadline, entry.value if isinstance(entry.value, bytes) else dict(entry.value))
                for key, entry in store._entries.items()
            }
            try:
                await batch.execute()
            except REFUSED:
                after = {key: (entry.deadline, entry.value) for key, entry in store._entries.items()}
                assert after == before
            check(subject)
            subject.clock.advance(milliseconds=700)
