"""A caller who leaves must not leave its answer to the next one, nor take a connection along."""

import asyncio
import random

import pytest

from shared.cache import OutcomeUnknown, Tier, TierUnavailable
from shared.testing.servers import KeyValueServer
from tests.contracts.cache.subjects import Subject, eventually, opened

SLICE, ALL = 300, 2000


async def _cancelled(task: asyncio.Task[object], turns: int) -> None:
    for _ in range(turns):
        await asyncio.sleep(0)
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


@pytest.mark.parametrize("count", [SLICE, pytest.param(ALL, marks=pytest.mark.soak)])
async def test_no_caller_gets_the_answer_of_one_who_left(
    server: KeyValueServer, tier: Tier, count: int
) -> None:
    chance = random.Random(20)  # noqa: S311 - repeatable on purpose
    async with opened(server.url, tier, pool_size=4) as subject:
        await subject.server.open()
        keys = [subject.families.values.key(id=number) for number in range(20)]
        for number, key in enumerate(keys):
            await subject.cache.set_json(key, number, ttl_seconds=60)
        before = await _connections_made(subject)
        for _ in range(count):
            left = asyncio.create_task(subject.cache.get_json(keys[chance.randrange(20)]))
            await _cancelled(left, chance.randrange(12))
            wanted = chance.randrange(18)
            assert await subject.cache.get_json(keys[wanted]) == wanted
            assert await subject.cache.get_many_json(keys[wanted : wanted + 2]) == [wanted, wanted + 1]
        # What was left behind is read and dropped, and its connection used again.
        assert await _connections_made(subject) - before <= 4


async def test_cancelled_scripts_and_batches_leave_their_connections_clean(
    server: KeyValueServer, tier: Tier
) -> None:
    chance = random.Random(21)  # noqa: S311 - repeatable on purpose
    async with opened(server.url, tier, pool_size=4) as subject:
        counter, value = subject.families.counters.key(id=1), subject.families.values.key(id=1)
        await subject.cache.set_json(value, "right", ttl_seconds=60)
        for _ in range(100):
            for call in (
                subject.cache.increment(counter, ttl_seconds=60),
                subject.cache.survey(subject.families.values),
            ):
                await _cancelled(asyncio.create_task(call), chance.randrange(12))
                assert await subject.cache.get_json(value) == "right"


async def test_cancelled_calls_on_a_frozen_server_give_their_places_back(
    server: KeyValueServer, tier: Tier
) -> None:
    async with opened(server.url, tier, pool_size=5) as subject:
        transport = subject.cache.gateway.transport
        assert transport is not None
        key = subject.families.values.key(id=1)
        await subject.cache.get_json(key)
        server.pause()
        tasks = [asyncio.create_task(subject.cache.get_json(key)) for _ in range(50)]
        await eventually(lambda: transport.in_use == 1)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        assert all(task.cancelled() for task in tasks)
        server.resume()
        await eventually(lambda: transport.in_use == 0)

        async def works() -> bool:
            try:
                return await subject.cache.get_json(key) is None
            except TierUnavailable:
                return False

        await eventually(works)


async def test_cancellation_always_gets_through(server: KeyValueServer, tier: Tier) -> None:
    """A time-out and a cancellation in the same instant: the cancellation is never swallowed."""
    async with opened(server.url, tier, pool_size=5) as subject:
        key = subject.families.values.key(id=1)
        ended = 0
        for turns in range(200):
            entered = asyncio.Event()

            async def call(entered: asyncio.Event = entered) -> None:
                try:
                    async with asyncio.timeout(0.0005):
                        entered.set()
                        await subject.cache.get_json(key)
                except (TimeoutError, TierUnavailable):
                    pass
                await asyncio.sleep(60)

            task = asyncio.create_task(call())
            await entered.wait()
            for _ in range(turns % 12):
                await asyncio.sleep(0)
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
            ended += task.cancelled()
        assert ended == 200


async def test_a_thousand_openings_and_closings_leave_no_connection(
    server: KeyValueServer, tier: Tier
) -> None:
    async with opened(server.url, tier) as watch:
        await watch.server.open()

        async def connected() -> int:
            return int((await watch.ask("CLIENT", "LIST")).count(b"name=routeloom:tests"))

        before = await connected()
        for number in range(100):
            async with opened(server.url, tier) as subject:
                key = subject.families.values.key(id=1)
                call = asyncio.create_task(subject.cache.set_json(key, 1, ttl_seconds=5))
                if number % 2:
                    await _cancelled(call, number % 9)
                else:
                    await call

        async def as_before() -> bool:
            return await connected() == before

        await eventually(as_before)


async def test_a_cancelled_trial_does_not_keep_the_breaker_open(server: KeyValueServer, tier: Tier) -> None:
    async with opened(server.url, tier) as subject:
        breaker, key = subject.cache.breaker, subject.families.values.key(id=1)
        await subject.cache.get_json(key)
        for _ in range(5):
            breaker.failed(breaker.admit(), "test")
        breaker._retry_at = 0.0
        server.pause()
        trial = asyncio.create_task(subject.cache.get_json(key))
        await asyncio.sleep(0.01)
        await _cancelled(trial, 1)
        server.resume()

        async def works() -> bool:
            try:
                return await subject.cache.get_json(key) is None
            except TierUnavailable:
                return False

        await eventually(works)
    assert issubclass(OutcomeUnknown, TierUnavailable)


async def _connections_made(subject: Subject) -> int:
    stats = (await subject.ask("INFO", "stats")).decode()
    (line,) = [line for line in stats.splitlines() if line.startswith("total_connections_received")]
    return int(line.partition(":")[2])
