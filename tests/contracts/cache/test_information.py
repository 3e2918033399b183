from datetime import timedelta

import pytest
from prometheus_client import CollectorRegistry, generate_latest

from shared.cache import KeyRegistry, PrometheusObserver, Tier, TierProber, TierState, healthz
from shared.testing.servers import KeyValueServer
from tests.contracts.cache.subjects import DATABASE, Subject, open_tier, settings_for


async def test_counts_the_keys_of_a_family_and_no_others(subject: Subject) -> None:
    for number in range(700):
        await subject.cache.set_json(subject.families.values.key(id=number), 1, ttl_seconds=60)
    longer = subject.families.family("longer")
    await subject.ask("SET", subject.raw("value:1:of another family"), 1, "EX", 60)
    assert await subject.cache.scan_count(subject.families.values) == 700
    assert await subject.cache.scan_count(longer) == 0
    assert await subject.cache.scan_count(subject.families.channels) == 0


async def test_surveys_bytes_and_ttls_of_a_family(subject: Subject) -> None:
    await subject.cache.set_json(subject.families.values.key(id=1), "x" * 1000, ttl_seconds=10)
    await subject.cache.set_json(subject.families.values.key(id=2), 1, ttl_seconds=100)
    await subject.ask("SET", subject.raw("value:3"), 1)
    found = await subject.cache.survey(subject.families.values)
    assert (found.count, found.without_ttl) == (3, 1)
    assert found.bytes > 1000
    assert found.shortest_ttl_seconds is not None
    assert found.longest_ttl_seconds is not None
    assert 9 < found.shortest_ttl_seconds <= 10
    assert 99 < found.longest_ttl_seconds <= 100
    await subject.ask("DEL", subject.raw("value:3"))


async def test_the_gate_finds_a_key_that_nobody_declared(subject: Subject) -> None:
    registry = KeyRegistry(subject.families.values)
    await subject.cache.set_json(subject.families.values.key(id="a b"), 1, ttl_seconds=60)
    await subject.ask("SET", subject.raw("stray:1"), 1, "EX", 60)
    tier = subject.cache.tier
    unknown = [name async for name in subject.cache.names() if not registry.find(tier, DATABASE, name)]
    assert unknown == ["stray:1"]


async def test_information_says_what_the_server_is(subject: Subject) -> None:
    found = await subject.cache.info()
    assert found.policy == ("noeviction" if subject.cache.tier is Tier.KV else "allkeys-lru")
    assert found.master
    assert not found.append_only
    assert found.memory_share is not None
    assert 0 < found.memory_share < 0.7


class TestProber:
    async def test_sees_a_healthy_tier(self, subject: Subject) -> None:
        await subject.server.send("FLUSHALL")
        await subject.server.receive()
        prober = TierProber(subject.cache)
        states = [prober.health.state]
        await prober.probe_once()
        states.append(prober.health.state)
        assert states == [TierState.UNKNOWN, TierState.OK]
        assert prober.health.latency_seconds is not None
        assert healthz(prober.health).http_status == 200
        assert prober.information is not None
        await prober.aclose()

    async def test_reports_a_wrong_policy_with_the_command_that_fixes_it(self, subject: Subject) -> None:
        right = (await subject.cache.info()).policy
        wrong = "allkeys-lru" if subject.cache.tier is Tier.KV else "noeviction"
        await subject.ask("CONFIG", "SET", "maxmemory-policy", wrong)
        prober = TierProber(subject.cache)
        try:
            await prober.probe_once()
        finally:
            await subject.ask("CONFIG", "SET", "maxmemory-policy", right)
            await prober.aclose()
        assert prober.health.state is TierState.DEGRADED
        assert any(
            f"CONFIG SET maxmemory-policy {right}" in found.message for found in prober.health.problems
        )
        assert healthz(prober.health).body["status"] == "degraded"

    async def test_alarms_at_keys_without_an_end_in_kv_alone(self, subject: Subject) -> None:
        await subject.ask("SET", subject.raw("leak"), 1)
        prober = TierProber(subject.cache)
        await prober.probe_once()
        await prober.aclose()
        await subject.ask("DEL", subject.raw("leak"))
        codes = [found.code for found in prober.health.problems]
        assert codes == (["keys_without_ttl"] if subject.cache.tier is Tier.KV else [])

    async def test_is_a_loop_of_two_seconds(self, subject: Subject) -> None:
        assert TierProber(subject.cache).loop().interval == timedelta(seconds=2)


async def test_prometheus_shows_families_and_never_keys(tier: Tier, server: KeyValueServer) -> None:
    registry = CollectorRegistry()
    settings = settings_for(server.url)
    cache = open_tier(settings, tier, PrometheusObserver(registry))
    from tests.contracts.cache.subjects import Families

    key = Families(tier).values.key(id="node-secret")
    await cache.set_json(key, "value-secret", ttl_seconds=5)
    await cache.get_json(key)
    prober = TierProber(cache)
    await prober.probe_once()
    await prober.aclose()
    await cache.aclose()
    shown = generate_latest(registry).decode()
    assert f'family="value",operation="get",result="hit",tier="{tier}"' in shown
    assert f'routeloom_cache_up{{tier="{tier}"}} 1.0' in shown
    assert "secret" not in shown


@pytest.mark.parametrize("scheme", ["redis", "valkey"])
async def test_both_schemes_reach_both_servers(scheme: str, tier: Tier, server: KeyValueServer) -> None:
    cache = open_tier(settings_for(server.url.replace("redis", scheme, 1)), tier)
    assert (await cache.info()).master
    await cache.aclose()
