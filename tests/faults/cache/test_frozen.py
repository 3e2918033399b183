"""A tier that accepts and never answers: the worst of all, because nothing says so."""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import Any

import pytest

from shared.cache import (
    Cache,
    LogStep,
    LogTarget,
    OutcomeUnknown,
    Reason,
    Tier,
    TierProber,
    TierState,
    TierUnavailable,
    healthz,
)
from shared.cache.breaker import BreakerPolicy, BreakerState
from shared.testing.fault_proxy import fault_proxy
from shared.testing.servers import KeyValueServer
from tests.contracts.cache.subjects import Families, Subject, eventually, opened

DEADLINE = timedelta(milliseconds=250)
# Ten times the deadline.
BOUND = 2.5

Call = Callable[[Cache, Families], Awaitable[Any]]

READS: dict[str, Call] = {
    "get_json": lambda cache, of: cache.get_json(of.values.key(id=1)),
    "get_many_json": lambda cache, of: cache.get_many_json([of.values.key(id=1)]),
    "read_counter": lambda cache, of: cache.read_counter(of.counters.key(id=1)),
    "read_list": lambda cache, of: cache.read_list(of.windows.key(id=1)),
    "read_log": lambda cache, of: cache.read_log(of.logs().key(id=1)),
    "scan_count": lambda cache, of: cache.scan_count(of.values),
    "survey": lambda cache, of: cache.survey(of.values),
    "info": lambda cache, _of: cache.info(),
    "server_time": lambda cache, _of: cache.server_time(),
}
WRITES: dict[str, Call] = {
    "set_json": lambda cache, of: cache.set_json(of.values.key(id=1), 1, ttl_seconds=5),
    "set_json_if_absent": lambda cache, of: cache.set_json_if_absent(of.values.key(id=1), 1, ttl_seconds=5),
    "take_json": lambda cache, of: cache.take_json(of.values.key(id=1)),
    "take_and_tombstone": lambda cache, of: cache.take_and_tombstone(
        of.values.key(id=1), of.used.key(id=1), ttl_seconds=5
    ),
    "increment": lambda cache, of: cache.increment(of.counters.key(id=1), ttl_seconds=5),
    "append": lambda cache, of: cache.append(of.windows.key(id=1), 1, ttl_seconds=5),
    "append_and_publish": lambda cache, of: cache.append_and_publish(
        LogTarget(of.logs().key(id=1), of.values.key(id=1)), 1, ttl_seconds=5
    ),
    "push_window": lambda cache, of: cache.push_window(of.windows.key(id=1), 1, ttl_seconds=5),
    "delete": lambda cache, of: cache.delete(of.values.key(id=1)),
    "publish": lambda cache, of: cache.publish(of.channels.key(id=1), 1),
    "bump_version": lambda cache, of: cache.bump_version(of.versions.key(id=1), at_least=1),
    "revoke": lambda cache, of: cache.revoke(of.values.key(id=1), ttl_seconds=5),
    "invalidate": lambda cache, of: cache.invalidate(of.values.key(id=1), ttl_seconds=5),
    "exchange": lambda cache, of: cache.exchange(of.values.key(id=1), 1, 2, ttl_seconds=5),
    "keep": lambda cache, of: cache.keep(of.values.key(id=1), ttl_seconds=5),
    "advance": lambda cache, of: cache.advance(
        LogStep(LogTarget(of.logs().key(id=1), of.values.key(id=1)), of.used.key(id=1), None, 1),
        ttl_seconds=5,
    ),
    "fill_unless_revoked": lambda cache, of: cache.fill_unless_revoked(of.values.key(id=1), 1, ttl_seconds=5),
}


async def warmed(subject: Subject) -> None:
    """Open one connection of the pool before the server freezes."""
    await subject.cache.get_json(subject.families.values.key(id="warm"))


@pytest.mark.parametrize("name", [*READS, *WRITES])
async def test_every_operation_ends_and_says_what_it_knows(
    server: KeyValueServer, tier: Tier, name: str
) -> None:
    async with opened(server.url, tier, deadline=timedelta(milliseconds=50)) as subject:
        await eventually(lambda: _answers(subject))
        server.pause()
        async with asyncio.timeout(BOUND):
            with pytest.raises(TierUnavailable) as raised:
                await (READS | WRITES)[name](subject.cache, subject.families)
        server.resume()
    assert isinstance(raised.value, OutcomeUnknown) == (name in WRITES)
    assert raised.value.reason is Reason.DEADLINE


async def test_four_hundred_calls_on_a_pool_of_twenty_all_end(server: KeyValueServer, tier: Tier) -> None:
    async with (
        fault_proxy(server.port) as proxy,
        opened(proxy.url, tier, deadline=DEADLINE, pool_size=20) as subject,
    ):
        key = subject.families.values.key(id=1)
        server.pause()
        async with asyncio.timeout(BOUND):
            outcomes = await asyncio.gather(
                *(subject.cache.get_json(key) for _ in range(400)), return_exceptions=True
            )
        assert {type(outcome) for outcome in outcomes} == {TierUnavailable}
        # Whoever got a place in the instant before the fifth failure opened the breaker may have connected.
        assert proxy.accepted <= 20 + BreakerPolicy().consecutive_failures
        assert subject.cache.breaker.state is BreakerState.OPEN
        sockets = proxy.accepted
        subject.cache.breaker._retry_at = float("inf")
        for _ in range(1000):
            with pytest.raises(TierUnavailable):
                await subject.cache.get_json(key)
        assert proxy.accepted == sockets
        assert subject.recorder.reasons.count(Reason.BREAKER_OPEN) >= 1000


async def test_recovers_by_itself(server: KeyValueServer, tier: Tier) -> None:
    async with opened(server.url, tier, deadline=DEADLINE) as subject:
        await warmed(subject)
        server.pause()
        await eventually(lambda: _is_open(subject))
        server.resume()
        await eventually(lambda: _answers(subject))
        assert subject.cache.breaker.state is BreakerState.CLOSED
        assert [change.state for change in subject.cache.breaker.history][:1] == [BreakerState.OPEN]
        transport = subject.cache.gateway.transport
        assert transport is not None
        await eventually(lambda: transport.in_use == 0)


@pytest.mark.parametrize("name", ["increment", "append", "append_and_publish"])
async def test_a_stall_longer_than_the_deadline_applies_a_write_at_most_once(
    server: KeyValueServer, tier: Tier, name: str
) -> None:
    """Clients that retry after a time-out apply it twice, without an error."""
    async with opened(server.url, tier, deadline=DEADLINE) as subject:
        await subject.server.open()
        await warmed(subject)
        guard = subject.families.values.key(id=1)
        await subject.cache.set_json(guard, 1, ttl_seconds=60)
        server.pause()
        with pytest.raises(OutcomeUnknown):
            await WRITES[name](subject.cache, subject.families)
        server.resume()
        await subject.ask("PING")
        await asyncio.sleep(0)
        counter = int(await subject.ask("GET", subject.raw("counter:1")) or 0)
        window = await subject.ask("LLEN", subject.raw("window:1"))
        log = await subject.ask("LLEN", subject.raw("log:1"))
        assert counter + window + log <= 1


async def test_get_or_load_falls_back_and_spares_the_database(server: KeyValueServer, tier: Tier) -> None:
    running, most = 0, 0

    async def load() -> str:
        nonlocal running, most
        running += 1
        most = max(most, running)
        await asyncio.sleep(0)
        running -= 1
        return "from the database"

    async with opened(server.url, tier, deadline=DEADLINE) as subject:
        server.pause()
        keys = [subject.families.values.key(id=number) for number in range(300)]
        async with asyncio.timeout(BOUND):
            loaded = await asyncio.gather(
                *(subject.cache.get_or_load(key, load, ttl_seconds=30) for key in keys)
            )
        assert set(loaded) == {"from the database"}
        assert most <= 8
        assert subject.recorder.results.count(("value", "load", "fallback")) == 300


async def test_an_answer_that_correctness_hangs_on_is_never_shared_without_the_tier(
    server: KeyValueServer, tier: Tier
) -> None:
    """A lookup that began before a revocation must not answer who asks after it."""
    async with opened(server.url, tier, deadline=timedelta(milliseconds=50)) as subject:
        key = subject.families.family("token", correctness=True).key(id=1)
        server.pause()
        held, valid = asyncio.Event(), True

        async def look_up() -> str | None:
            found = "valid" if valid else None
            await held.wait()
            return found

        early = asyncio.create_task(subject.cache.get_or_load(key, look_up, ttl_seconds=30))
        await eventually(lambda: ("token", "load", "fallback") in subject.recorder.results)
        await asyncio.sleep(0)
        valid = False
        with pytest.raises(TierUnavailable):
            await subject.cache.revoke(key, ttl_seconds=60)
        late = asyncio.create_task(subject.cache.get_or_load(key, look_up, ttl_seconds=30))
        await eventually(lambda: subject.recorder.results.count(("token", "load", "fallback")) == 2)
        held.set()
        assert await early == "valid"
        assert await late is None


async def test_the_prober_needs_two_failures_and_one_answer(server: KeyValueServer, tier: Tier) -> None:
    async with opened(server.url, tier, deadline=DEADLINE) as subject:
        prober = TierProber(subject.cache)
        await prober.probe_once()
        server.pause()
        await eventually(lambda: _is_open(subject))
        await prober.probe_once()
        states = [prober.health.state]
        await prober.probe_once()
        states.append(prober.health.state)
        assert states == [TierState.OK, TierState.UNAVAILABLE]
        answer = healthz(prober.health)
        expected = (503, "unavailable") if tier is Tier.KV else (200, "degraded")
        assert (answer.http_status, answer.body["status"]) == expected
        server.resume()
        await prober.probe_once()
        assert healthz(prober.health).body["status"] == "ok"
        assert subject.cache.breaker.state is BreakerState.CLOSED
        await prober.aclose()


async def test_subscribing_ends_by_the_deadline(server: KeyValueServer, tier: Tier) -> None:
    async with opened(server.url, tier, deadline=DEADLINE) as subject:
        server.pause()
        async with asyncio.timeout(BOUND):
            with pytest.raises(TierUnavailable):
                async with subject.cache.subscribe(subject.families.channels.key(id=1)):
                    pytest.fail("subscribed to a frozen server")
        server.resume()


async def _answers(subject: Subject) -> bool:
    try:
        await warmed(subject)
    except TierUnavailable:
        return False
    return True


async def _is_open(subject: Subject) -> bool:
    await _answers(subject)
    return subject.cache.breaker.state is BreakerState.OPEN
