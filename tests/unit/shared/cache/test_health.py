from typing import Any

import pytest

from shared.cache import Tier, TierHealth, TierState, healthz
from shared.cache.health import problems_of
from shared.cache.information import TierInformation, parse_information

INFORMATION = """# Server
redis_version:7.2.4
valkey_version:8.0.1
uptime_in_seconds:12
# Memory
used_memory:100
maxmemory:1000
maxmemory_policy:noeviction
# Persistence
rdb_last_bgsave_status:ok
aof_enabled:0
# Stats
keyspace_hits:998
keyspace_misses:2
evicted_keys:0
# Replication
role:master
# Keyspace
db0:keys=15,expires=1,avg_ttl=1
db1:keys=10,expires=10,avg_ttl=59000,subexpiry=0
"""


def information(**changes: Any) -> TierInformation:
    text = INFORMATION
    for name, value in changes.items():
        lines = [f"{name}:{value}" if line.startswith(f"{name}:") else line for line in text.splitlines()]
        text = "\r\n".join(lines)
    return parse_information(text)


def codes(tier: Tier, **changes: Any) -> list[str]:
    return [found.code for found in problems_of(tier, 1, information(**changes))]


def test_reads_what_the_server_says() -> None:
    seen = information()
    assert (seen.version, seen.memory_share, seen.hits, seen.misses) == ("8.0.1", 0.1, 998, 2)
    assert seen.keys_without_ttl(0) == 14
    assert seen.keys_without_ttl(1) == seen.keys_without_ttl(9) == 0


def test_a_server_that_says_nothing_is_not_an_error() -> None:
    assert parse_information("").memory_share is None


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, []),
        ({"used_memory": 700}, []),
        ({"used_memory": 701}, ["memory"]),
        ({"used_memory": 1000}, ["full"]),
        ({"maxmemory": 0}, []),
        ({"maxmemory_policy": "allkeys-lru"}, ["policy"]),
        ({"maxmemory_policy": "volatile-ttl"}, ["policy"]),
        ({"role": "slave"}, ["read_only"]),
        ({"rdb_last_bgsave_status": "err"}, ["snapshot_failed"]),
        ({"db1": "keys=10,expires=9,avg_ttl=1"}, ["keys_without_ttl"]),
        ({"db0": "keys=99,expires=0,avg_ttl=0"}, []),
        ({"aof_enabled": 1}, []),
    ],
)
def test_what_is_wrong_with_kv(changes: dict[str, Any], expected: list[str]) -> None:
    assert codes(Tier.KV, **changes) == expected


def test_an_append_only_file_beside_an_empty_keyspace_is_the_trap_that_replaces_the_dump() -> None:
    text = "\n".join(line for line in INFORMATION.splitlines() if not line.startswith("db"))
    seen = parse_information(text.replace("aof_enabled:0", "aof_enabled:1"))
    assert [found.code for found in problems_of(Tier.KV, 1, seen)] == ["append_only"]
    assert not problems_of(Tier.KV, 1, parse_information(text))


@pytest.mark.parametrize("policy", ["allkeys-lru", "allkeys-lfu", "volatile-lru", "volatile-lfu"])
def test_a_cache_evicts_the_coldest(policy: str) -> None:
    assert codes(Tier.CACHE, maxmemory_policy=policy, used_memory=999, db1="keys=9,expires=1") == []
    assert codes(Tier.CACHE, maxmemory_policy="noeviction") == ["policy"]


@pytest.mark.parametrize(
    ("kv", "cache", "status", "word"),
    [
        (TierState.OK, TierState.OK, 200, "ok"),
        (TierState.ABSENT, TierState.ABSENT, 200, "ok"),
        (TierState.UNKNOWN, TierState.UNKNOWN, 200, "ok"),
        (TierState.UNAVAILABLE, TierState.OK, 503, "unavailable"),
        (TierState.UNAVAILABLE, TierState.UNAVAILABLE, 503, "unavailable"),
        (TierState.OK, TierState.UNAVAILABLE, 200, "degraded"),
        (TierState.DEGRADED, TierState.OK, 200, "degraded"),
        (TierState.ABSENT, TierState.UNAVAILABLE, 200, "degraded"),
    ],
)
def test_only_a_lost_kv_takes_traffic_away(kv: TierState, cache: TierState, status: int, word: str) -> None:
    answer = healthz(TierHealth(Tier.KV, kv), TierHealth(Tier.CACHE, cache))
    assert (answer.http_status, answer.body["status"]) == (status, word)
    assert answer.body["tiers"]["kv"]["state"] == kv.value
