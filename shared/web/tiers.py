"""The tiers of a service: looked at by a background prober, counted, and told to `/healthz` and to pages."""

from __future__ import annotations

from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from shared.cache import Cache, PrometheusObserver, Tier, TierProber, TierState
from shared.web.health import TierReport

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence

    from prometheus_client import CollectorRegistry

    from shared.kernel.loops import Loop

#: Not looked at yet is no reason to be believed well.
_STATUS = {
    TierState.OK: "ok",
    TierState.DEGRADED: "degraded",
    TierState.UNKNOWN: "degraded",
    TierState.UNAVAILABLE: "unreachable",
    TierState.ABSENT: "absent",
}


@dataclass(frozen=True, slots=True)
class WatchedTier:
    """One tier with its prober."""

    cache: Cache
    prober: TierProber

    def report(self) -> TierReport:
        """What the prober last saw."""
        facts = self.prober.health.report()
        state = TierState(facts.pop("state"))
        if state is TierState.UNKNOWN:
            facts["problems"] = [{"code": "not_probed", "message": "Not looked at yet."}]
        tier = self.cache.tier
        return TierReport.model_validate(
            {"tier": tier, "status": _STATUS[state], "essential": tier is Tier.KV, "facts": facts}
        )


@dataclass(frozen=True, slots=True)
class WatchedTiers:
    """The tiers among the resources of a service."""

    tiers: Sequence[WatchedTier]

    @property
    def loops(self) -> list[Loop]:
        """The probers; a tier that is not configured needs none."""
        return [tier.prober.loop() for tier in self.tiers if tier.cache.configured]


@asynccontextmanager
async def watching_tiers(resources: Any, registry: CollectorRegistry) -> AsyncIterator[WatchedTiers]:
    """Count the operations of `kv` and `cache` in the service's metrics, and close the probers at the end."""
    found = [getattr(resources, name, None) for name in ("kv", "cache")]
    caches = [cache for cache in found if isinstance(cache, Cache)]
    if caches:
        observer = PrometheusObserver(registry)
        for cache in caches:
            cache.gateway.observer = observer
    watched = WatchedTiers([WatchedTier(cache, TierProber(cache)) for cache in caches])
    try:
        yield watched
    finally:
        for tier in watched.tiers:
            await tier.prober.aclose()
