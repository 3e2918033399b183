"""What `/healthz` says of the tiers, from what the prober last saw; deciding it waits for nobody."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from shared.cache.information import TierInformation
from shared.cache.tier import Tier

#: Above this share of its memory the kv tier counts as degraded: Cap's writes fail when it is full.
MEMORY_ALARM_SHARE = 0.7
_EVICTING = frozenset({"allkeys-lru", "allkeys-lfu", "volatile-lru", "volatile-lfu"})


class TierState(StrEnum):
    """How a tier does."""

    UNKNOWN = "unknown"
    OK = "ok"
    DEGRADED = "degraded"
    UNAVAILABLE = "unavailable"
    ABSENT = "absent"


@dataclass(frozen=True, slots=True)
class Problem:
    """Something an operator should do, with the command that does it where there is one."""

    code: str
    message: str


@dataclass(frozen=True, slots=True)
class TierHealth:
    """One tier as the prober last saw it."""

    tier: Tier
    state: TierState
    latency_seconds: float | None = None
    memory_share: float | None = None
    keys_without_ttl: int | None = None
    seconds_to_full: float | None = None
    problems: tuple[Problem, ...] = ()

    def report(self) -> dict[str, Any]:
        """The tier's part of the body; what is not known is left out."""
        report: dict[str, Any] = {"state": self.state.value}
        if self.latency_seconds is not None:
            report["latency_ms"] = round(self.latency_seconds * 1000, 2)
        if self.memory_share is not None:
            report["memory_share"] = round(self.memory_share, 4)
        if self.keys_without_ttl is not None:
            report["keys_without_ttl"] = self.keys_without_ttl
        if self.seconds_to_full is not None:
            report["seconds_to_full"] = round(self.seconds_to_full)
        if self.problems:
            report["problems"] = [{"code": found.code, "message": found.message} for found in self.problems]
        return report


@dataclass(frozen=True, slots=True)
class Healthz:
    """The whole answer: an HTTP status and a body."""

    http_status: int
    body: dict[str, Any]


def healthz(*tiers: TierHealth) -> Healthz:
    """503 only for a kv tier that is configured and gone; a cache that is gone costs time and no traffic."""
    body: dict[str, Any] = {"status": "ok", "tiers": {health.tier.value: health.report() for health in tiers}}
    if any(health.tier is Tier.KV and health.state is TierState.UNAVAILABLE for health in tiers):
        return Healthz(503, body | {"status": "unavailable"})
    if any(health.state in {TierState.DEGRADED, TierState.UNAVAILABLE} for health in tiers):
        return Healthz(200, body | {"status": "degraded"})
    return Healthz(200, body)


def problems_of(tier: Tier, database: int, seen: TierInformation) -> tuple[Problem, ...]:
    """What is wrong with a server that answers."""
    found = [*_policy_problems(tier, seen), *_write_problems(tier, seen)]
    if tier is Tier.KV:
        found += _space_problems(database, seen)
    return tuple(found)


def _policy_problems(tier: Tier, seen: TierInformation) -> list[Problem]:
    if tier is Tier.KV and seen.policy != "noeviction":
        fix = "CONFIG SET maxmemory-policy noeviction, or exchange the URLs if this is the server of cache"
        return [Problem("policy", f"kv holds only copies and evicts them ({seen.policy}): {fix}")]
    if tier is Tier.CACHE and seen.policy not in _EVICTING:
        fix = "CONFIG SET maxmemory-policy allkeys-lru, or exchange the URLs if this is the server of kv"
        return [Problem("policy", f"cache does not evict the coldest ({seen.policy}): {fix}")]
    return []


def _write_problems(tier: Tier, seen: TierInformation) -> list[Problem]:
    found = []
    if not seen.master:
        found.append(Problem("read_only", "The server is a replica and refuses writes."))
    if tier is Tier.KV and seen.snapshot_failed:
        message = "The last snapshot failed: writes are refused until one works."
        found.append(Problem("snapshot_failed", message))
    if tier is Tier.KV and seen.append_only and not seen.keyspace:
        # So looks a server that was told in its file to use an append-only log beside a lone dump.rdb.
        message = "An append-only file is on and nothing is there: stop it before it replaces dump.rdb."
        found.append(Problem("append_only", message))
    return found


def _space_problems(database: int, seen: TierInformation) -> list[Problem]:
    found = []
    share = seen.memory_share
    if share is not None and share >= 1:
        found.append(Problem("full", "Memory is full: writes are refused, the captcha service's as well."))
    elif share is not None and share > MEMORY_ALARM_SHARE:
        found.append(Problem("memory", f"{share:.0%} of the memory is used."))
    if without := seen.keys_without_ttl(database):
        found.append(Problem("keys_without_ttl", f"{without} keys of database {database} never expire."))
    return found
