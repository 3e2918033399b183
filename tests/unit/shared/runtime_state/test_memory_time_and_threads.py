"""Cases C7 and C23: one monotonic clock, and no loop or thread that matters."""

import asyncio
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from shared.runtime_state import RedisRuntimeClient, create_runtime_state_client
from shared.runtime_state.memory_backend import InMemoryRuntimeStateBackend
from tests.contracts.runtime_state.subjects import HandClock


class TestC7Time:
    async def test_a_wall_clock_that_jumps_changes_no_lifetime(
        self, state: RedisRuntimeClient, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        await state.set("k", "v", ex=100)
        for jump in (-3600, 10 * 365 * 86_400):
            jumped = time.time() + jump
            monkeypatch.setattr(time, "time", lambda jumped=jumped: jumped)
            monkeypatch.setattr(time, "time_ns", lambda jumped=jumped: int(jumped * 1e9))
            assert await state.ttl("k") == 100
            assert await state.sweep_expired() == 0
            assert await state.get("k") == b"v"

    def test_the_clock_by_default_is_monotonic(self) -> None:
        assert time.get_clock_info("monotonic").monotonic
        assert InMemoryRuntimeStateBackend()._store._ticks is time.monotonic_ns

    async def test_a_lifetime_ends_on_the_nanosecond(
        self, state: RedisRuntimeClient, clock: HandClock
    ) -> None:
        await state.set("k", "v", ex=1)
        clock.now += 999_999_999
        assert await state.get("k") == b"v"
        assert await state.ttl("k") == 0
        clock.now += 1
        assert await state.get("k") is None
        assert await state.ttl("k") == -2


class TestC23Sharing:
    async def test_two_clients_of_one_name_are_two_states(self) -> None:
        one = create_runtime_state_client("memory://lite", prefix="p:")
        two = create_runtime_state_client("memory://lite", prefix="p:")
        await one.set("k", "v")
        assert await two.get("k") is None

    def test_one_client_serves_several_loops_one_after_the_other(self) -> None:
        client = create_runtime_state_client("memory://lite", prefix="p:")
        asyncio.run(client.set("k", "v", ex=60))
        assert asyncio.run(client.get("k")) == b"v"
        assert asyncio.run(client.sweep_expired()) == 0

    def test_threads_with_loops_of_their_own_lose_no_update_and_see_no_half_batch(self) -> None:
        client = create_runtime_state_client("memory://lite", prefix="p:")

        async def write() -> None:
            for n in range(300):
                await client.incr("n")
                batch = client.batch()
                batch.hset("pair", {"left": n, "right": n})
                batch.set("single", n)
                await batch.execute()

        async def read() -> None:
            for _ in range(300):
                fields = await client.hgetall("pair")
                assert fields.get(b"left") == fields.get(b"right")

        with ThreadPoolExecutor(6) as threads:
            done = [threads.submit(asyncio.run, work()) for work in (write, read) * 3]
            for future in done:
                future.result(60)
        assert asyncio.run(client.get("n")) == b"900"
