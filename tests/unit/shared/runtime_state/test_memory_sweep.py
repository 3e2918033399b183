"""Sweeps cost what has expired, hold the lock briefly and never stop: cases C19 and C20."""

import asyncio
from collections.abc import AsyncIterator
from datetime import timedelta

import pytest
import structlog

from shared.kernel.loops import running
from shared.runtime_state import sweeper
from shared.runtime_state.contracts import SweepReport
from shared.runtime_state.facade import RedisRuntimeClient
from shared.runtime_state.memory_backend import PASS_BYTES, PASS_SLICES, InMemoryRuntimeStateBackend
from shared.runtime_state.memory_store import SLICE_BYTES, SLICE_KEYS, Entry, MemoryStore
from shared.runtime_state.sweeper import PASSES, SweepObserver, sweep_completely, sweep_loop
from tests.contracts.runtime_state.subjects import MemorySubject, eventually, memory_subject

TICK = timedelta(milliseconds=1)


@pytest.fixture
async def roomy() -> AsyncIterator[MemorySubject]:
    async with memory_subject() as subject:
        yield subject


@pytest.fixture(autouse=True)
def no_rest(monkeypatch: pytest.MonkeyPatch) -> None:
    """Between passes others get their turn, and that is all."""
    monkeypatch.setattr(sweeper, "REST_SECONDS", 0)


class SlicesSeen:
    """Watches how many keys and bytes each slice removes."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.removed: list[int] = []
        self.freed: list[int] = []
        original = MemoryStore.remove_expired_slice

        def counted(store: MemoryStore) -> list[Entry]:
            removed = original(store)
            self.removed.append(len(removed))
            self.freed.append(sum(entry.size for entry in removed))
            return removed

        monkeypatch.setattr(MemoryStore, "remove_expired_slice", counted)

    def clear(self) -> None:
        self.removed.clear()
        self.freed.clear()


async def expire_together(subject: MemorySubject, count: int) -> None:
    for n in range(count):
        await subject.client.set(f"dead:{n:06}", "v", ex=30)
    await subject.client.set("alive", "v", ex=60)
    subject.clock.advance(seconds=30)


async def held(subject: MemorySubject) -> int:
    return (await subject.client.stats()).approx_bytes or 0


async def one_pass(subject: MemorySubject) -> tuple[int, bool]:
    """How many keys it removed, and whether that was all."""
    return await subject.client.sweep_expired(), subject.client.sweeps.complete


class PassesLeft(InMemoryRuntimeStateBackend):
    """A back end that needs so many passes."""

    def __init__(self, passes: int) -> None:
        super().__init__()
        self.left = passes

    async def sweep_expired(self) -> SweepReport:
        self.left -= 1
        return SweepReport(complete=self.left == 0)


async def sweep_beside_a_reader(subject: MemorySubject) -> int:
    """Sweep, and count the reads that were answered meanwhile."""
    sweeping = asyncio.create_task(sweep_completely(subject.client))
    reads = 0
    while not sweeping.done():
        assert await subject.client.get("alive") == b"v"
        reads += 1
        await asyncio.sleep(0)
    return reads


class TestC19ManyAtOnce:
    async def test_are_removed_in_bounded_slices_with_reads_between_them(
        self, roomy: MemorySubject, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        await self._sweep(roomy, monkeypatch, 5_000)

    @pytest.mark.soak
    async def test_a_hundred_thousand(self, roomy: MemorySubject, monkeypatch: pytest.MonkeyPatch) -> None:
        await self._sweep(roomy, monkeypatch, 100_000)

    async def _sweep(self, subject: MemorySubject, monkeypatch: pytest.MonkeyPatch, count: int) -> None:
        before = (await subject.client.stats()).approx_bytes
        await expire_together(subject, count)
        seen = SlicesSeen(monkeypatch)
        reads = await sweep_beside_a_reader(subject)
        slices = -(-count // SLICE_KEYS)
        assert sum(seen.removed) == count
        assert max(seen.removed) <= SLICE_KEYS
        assert slices <= len(seen.removed) <= slices + 2
        assert reads >= slices
        stats = await subject.client.stats()
        assert stats.active_keys == 1
        assert before == 0
        assert stats.approx_bytes == len(subject.prefix + "alive" + "v")
        assert stats.last_sweep_seconds is not None

    async def test_large_values_are_given_back_a_few_at_a_time(
        self, roomy: MemorySubject, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        for n in range(12):
            await roomy.client.set(f"dead:{n}", b"v" * (SLICE_BYTES // 2), ex=30)
        roomy.clock.advance(seconds=30)
        seen = SlicesSeen(monkeypatch)
        assert await roomy.client.sweep_expired() == 12
        assert max(seen.removed) <= 2

    async def test_one_pass_ends_after_so_many_slices_and_the_next_goes_on(
        self, roomy: MemorySubject, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        count = PASS_SLICES * SLICE_KEYS + 10
        await expire_together(roomy, count)
        before = await held(roomy)
        seen = SlicesSeen(monkeypatch)
        assert await one_pass(roomy) == (PASS_SLICES * SLICE_KEYS, False)
        assert len(seen.removed) == PASS_SLICES
        assert await held(roomy) == before - (count - 10) * len(f"{roomy.prefix}dead:000000v")
        assert await one_pass(roomy) == (10, True)
        assert await held(roomy) == len(roomy.prefix + "alive" + "v")

    @pytest.mark.parametrize("item", [SLICE_BYTES // 2, 3 * SLICE_BYTES])
    async def test_one_pass_gives_back_so_many_bytes_and_one_item_at_most(
        self, roomy: MemorySubject, monkeypatch: pytest.MonkeyPatch, item: int
    ) -> None:
        count = 2 * PASS_BYTES // item
        for n in range(count):
            await roomy.client.set(f"dead:{n}", b"v" * item, ex=30)
        roomy.clock.advance(seconds=30)
        seen, passes, complete = SlicesSeen(monkeypatch), 0, False
        while not complete:
            _removed, complete = await one_pass(roomy)
            assert sum(seen.freed) < PASS_BYTES + item
            seen.clear()
            passes += 1
        assert passes <= count * item // PASS_BYTES + 1
        assert await held(roomy) == 0

    async def test_the_loop_goes_on_until_all_is_gone_but_not_for_ever(self) -> None:
        endless, short = PassesLeft(PASSES + 1), PassesLeft(3)
        for backend, passes, left in ((endless, PASSES, 1), (short, 3, 0)):
            client = RedisRuntimeClient(backend, prefix="sweep:")
            await sweep_completely(client)
            assert (client.sweeps.count, backend.left) == (passes, left)

    async def test_what_lives_is_not_even_looked_at(
        self, roomy: MemorySubject, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        for n in range(2000):
            await roomy.client.set(f"alive:{n}", "v", ex=3600)
            await roomy.client.set(f"for ever:{n}", "v")
        for n in range(10):
            await roomy.client.set(f"dead:{n}", "v", ex=30)
        roomy.clock.advance(seconds=30)
        backend = roomy.client._backend
        assert isinstance(backend, InMemoryRuntimeStateBackend)
        deadlines = backend._store._deadlines
        looked_at: list[int] = []
        original = deadlines.due

        def due(now: int, limit: int) -> list[bytes]:
            named = original(now, limit)
            looked_at.append(len(named))
            return named

        monkeypatch.setattr(deadlines, "due", due)
        assert await roomy.client.sweep_expired() == 10
        assert sum(looked_at) == 10
        assert len(looked_at) <= 4

    async def test_a_lifetime_that_was_renewed_or_removed_is_respected(self, roomy: MemorySubject) -> None:
        for key in ("renewed", "rewritten", "deleted", "shortened"):
            await roomy.client.set(key, "v", ex=30)
        await roomy.client.expire("renewed", 60)
        await roomy.client.set("rewritten", "w")
        await roomy.client.delete("deleted")
        await roomy.client.expire("shortened", 10)
        roomy.clock.advance(seconds=10)
        assert await roomy.client.sweep_expired() == 1
        roomy.clock.advance(seconds=20)
        assert await roomy.client.sweep_expired() == 0
        assert await roomy.client.get("renewed") == b"v"
        assert await roomy.client.get("rewritten") == b"w"


class FailsFirst:
    """A back end whose first sweeps fail."""

    def __init__(self, subject: MemorySubject, failures: int) -> None:
        self._original = subject.client._backend.sweep_expired
        self._failures = failures

    async def __call__(self) -> SweepReport:
        if self._failures:
            self._failures -= 1
            raise RuntimeError("planted-secret")
        return await self._original()


class TestC20FailingSweep:
    async def test_is_logged_and_counted_and_the_next_one_comes(
        self, roomy: MemorySubject, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(roomy.client._backend, "sweep_expired", FailsFirst(roomy, 2))
        await roomy.client.set("k", "v", ex=5)
        roomy.clock.advance(seconds=5)
        sweeps = roomy.client.sweeps

        async def swept_twice() -> bool:
            return sweeps.count >= 2

        with structlog.testing.capture_logs() as logs:
            async with running([sweep_loop(roomy.client, TICK)], SweepObserver(sweeps)):
                await eventually(swept_twice)
        failed = [entry for entry in logs if entry["event"] == "runtime_state.sweep.failed"]
        assert [entry["error"] for entry in failed] == ["RuntimeError", "RuntimeError"]
        assert "planted-secret" not in str(logs)
        stats = await roomy.client.stats()
        assert stats.sweep_failures == 2
        assert stats.active_keys == 0

    async def test_the_interval_is_the_same_after_a_failure(self, roomy: MemorySubject) -> None:
        loop = sweep_loop(roomy.client, timedelta(seconds=30))
        assert {loop.pause() for _ in range(10)} == {30.0}

    async def test_stopping_is_awaited(self, roomy: MemorySubject) -> None:
        before = asyncio.all_tasks()
        async with running([sweep_loop(roomy.client, TICK)], SweepObserver(roomy.client.sweeps)):
            assert len(asyncio.all_tasks() - before) == 1
        assert asyncio.all_tasks() == before
