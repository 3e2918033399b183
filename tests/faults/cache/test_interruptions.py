"""Connections cut, spoilt, repeated and held back by a proxy; servers killed and started again."""

import asyncio
from datetime import timedelta

import pytest

from shared.cache import OutcomeUnknown, Reason, Tier, TierUnavailable
from shared.testing.fault_proxy import fault_proxy
from shared.testing.servers import KeyValueServer
from tests.contracts.cache.subjects import Subject, eventually, opened

SHORT = timedelta(milliseconds=400)


async def _works(subject: Subject) -> bool:
    try:
        await subject.cache.get_json(subject.families.values.key(id="probe"))
    except TierUnavailable:
        return False
    return True


@pytest.mark.parametrize(("known", "step"), [(True, 1), (False, 7)])
async def test_cut_after_any_byte_no_counter_is_left_without_an_end(
    server: KeyValueServer, tier: Tier, known: bool, step: int
) -> None:
    """INCR and EXPIRE as two commands lock a person out for good when the line drops between them."""
    async with (
        fault_proxy(server.port) as proxy,
        opened(server.url, tier) as direct,
        opened(proxy.url, tier, namespace=direct.settings.namespace, pool_size=1) as subject,
    ):
        await direct.server.open()

        async def count(number: int) -> bool:
            subject.cache.breaker.recover("test")
            if not known:
                await direct.ask("SCRIPT", "FLUSH")
            try:
                await subject.cache.increment(subject.families.counters.key(id=number), ttl_seconds=900)
            except TierUnavailable:
                return False
            return True

        assert await count(1_000)
        proxy.cut_all()
        await eventually(lambda: not proxy.open_connections)
        before = proxy.requested
        assert await count(1_001)
        length = proxy.requested - before
        proxy.cut_all()
        answered = []
        for cut in range(1, length + 2 * step, step):
            proxy.faults.cut_request_after = cut
            answered.append(await count(cut))
            proxy.cut_all()
            await eventually(lambda: not proxy.open_connections)
        assert not answered[0]
        assert answered[-1]
        for name in [name async for name in direct.cache.names()]:
            assert await direct.ask("PTTL", direct.raw(name)) > 0, "a counter without an end"
            assert await direct.ask("GET", direct.raw(name)) == b"1", "counted twice"


async def test_cut_in_the_reply_the_outcome_is_unknown(server: KeyValueServer, tier: Tier) -> None:
    async with fault_proxy(server.port) as proxy, opened(proxy.url, tier, pool_size=1) as subject:
        key = subject.families.counters.key(id=1)
        await subject.cache.increment(key, ttl_seconds=900)
        proxy.faults.cut_reply_after = 1
        with pytest.raises(OutcomeUnknown):
            await subject.cache.increment(key, ttl_seconds=900)
        proxy.faults.cut_reply_after = None
        await eventually(lambda: _works(subject))
        assert (await subject.cache.increment(key, ttl_seconds=900)).value == 3


@pytest.mark.parametrize("garbage", [b"?bad\r\n", b"\x00\xff\xfe\r\n", b"$-7\r\n", b"*99999999999999\r\n"])
async def test_garbage_costs_its_connection_and_no_wrong_answer(
    server: KeyValueServer, tier: Tier, garbage: bytes
) -> None:
    async with (
        fault_proxy(server.port) as proxy,
        opened(proxy.url, tier, pool_size=1, deadline=SHORT) as subject,
    ):
        key = subject.families.values.key(id=1)
        await subject.cache.set_json(key, "right", ttl_seconds=60)
        proxy.faults.inject_reply = garbage
        with pytest.raises(TierUnavailable) as raised:
            await subject.cache.get_json(key)
        assert raised.value.reason in {Reason.PROTOCOL, Reason.CONNECTION, Reason.DEADLINE}
        await eventually(lambda: _works(subject))
        assert await subject.cache.get_json(key) == "right"
        assert proxy.accepted == 2


async def test_a_repeated_reply_is_not_taken_for_the_next_one(server: KeyValueServer, tier: Tier) -> None:
    async with fault_proxy(server.port) as proxy, opened(proxy.url, tier, pool_size=1) as subject:
        keys = [subject.families.values.key(id=number) for number in range(2)]
        for number, key in enumerate(keys):
            await subject.cache.set_json(key, number, ttl_seconds=60)
        proxy.faults.duplicate_reply = True
        assert await subject.cache.get_json(keys[0]) == 0
        proxy.faults.duplicate_reply = False
        assert await subject.cache.get_json(keys[1]) == 1
        assert proxy.accepted == 2


async def test_half_a_reply_ends_by_the_deadline(server: KeyValueServer, tier: Tier) -> None:
    async with (
        fault_proxy(server.port) as proxy,
        opened(proxy.url, tier, pool_size=1, deadline=SHORT) as subject,
    ):
        key = subject.families.values.key(id=1)
        await subject.cache.set_json(key, "x" * 1000, ttl_seconds=60)
        proxy.faults.truncate_reply_after = 0
        with pytest.raises(TierUnavailable) as raised:
            await subject.cache.get_json(key)
        assert raised.value.reason is Reason.DEADLINE
        proxy.faults.truncate_reply_after = None
        await eventually(lambda: _works(subject))
        assert await subject.cache.get_json(key) == "x" * 1000


async def test_a_late_reply_reaches_nobody_else(server: KeyValueServer, tier: Tier) -> None:
    async with (
        fault_proxy(server.port) as proxy,
        opened(proxy.url, tier, pool_size=1, deadline=SHORT) as subject,
    ):
        keys = [subject.families.values.key(id=number) for number in range(2)]
        for number, key in enumerate(keys):
            await subject.cache.set_json(key, number, ttl_seconds=60)
        proxy.faults.delay_reply = 0.5
        with pytest.raises(TierUnavailable):
            await subject.cache.get_json(keys[0])
        proxy.faults.delay_reply = 0.0
        await eventually(lambda: _works(subject))
        assert await subject.cache.get_json(keys[1]) == 1


async def test_scripts_survive_being_forgotten_between_any_two_calls(
    server: KeyValueServer, tier: Tier
) -> None:
    async with opened(server.url, tier) as subject:
        await subject.server.open()
        counter = subject.families.counters.key(id=1)
        flushing = True

        async def flush() -> None:
            while flushing:
                await subject.ask("SCRIPT", "FLUSH")

        async def count() -> list[int]:
            return [(await subject.cache.increment(counter, ttl_seconds=900)).value for _ in range(60)]

        flusher = asyncio.create_task(flush())
        counted = await asyncio.gather(*(count() for _ in range(4)))
        flushing = False
        await flusher
        assert sorted(value for values in counted for value in values) == list(range(1, 241))
        assert all(values == sorted(values) for values in counted), "each caller's calls in their order"


async def test_comes_back_after_a_crash_and_after_a_restart(server: KeyValueServer, tier: Tier) -> None:
    async with opened(server.url, tier, deadline=SHORT) as subject:
        counter = subject.families.counters.key(id=1)
        await subject.cache.increment(counter, ttl_seconds=900)
        for end in (server.kill, server.stop):
            await asyncio.to_thread(end)
            with pytest.raises(TierUnavailable):
                await subject.cache.increment(counter, ttl_seconds=900)
            await asyncio.to_thread(server.start)
            await eventually(lambda: _works(subject))
            # The scripts are gone with the server's memory, which nobody notices.
            assert (await subject.cache.increment(counter, ttl_seconds=900)).value >= 1


async def test_a_connection_that_the_server_closed_while_idle_costs_no_error(
    server: KeyValueServer, tier: Tier
) -> None:
    async with opened(server.url, tier, pool_size=3) as subject:
        await subject.server.open()
        key = subject.families.values.key(id=1)
        for _ in range(10):
            await subject.cache.get_json(key)
            await subject.ask("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes")
            # The loop hears of the closing before it sends on.
            await asyncio.sleep(0.02)
            assert await subject.cache.get_json(key) is None


async def test_a_pool_does_not_outgrow_its_size(server: KeyValueServer, tier: Tier) -> None:
    async with fault_proxy(server.port) as proxy, opened(proxy.url, tier, pool_size=3) as subject:
        key = subject.families.values.key(id=1)
        await asyncio.gather(*(subject.cache.get_json(key) for _ in range(200)))
        assert proxy.accepted <= 3
