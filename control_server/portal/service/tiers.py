"""How the two tiers do: their servers, the keys of each family, and what the breakers went through."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from control_server.portal.schemas import BreakerRead, DatabaseRead, FamilyRead, TierRead, TiersRead
from shared.cache import Cache, KeyFamily, Kind, TierHealth, TierInformation, TierProber, TierUnavailable


@dataclass(frozen=True, slots=True)
class TierService:
    """The tiers as this process sees them."""

    tiers: Sequence[tuple[Cache, TierProber]]
    families: Iterable[KeyFamily]

    async def read(self) -> TiersRead:
        """Both tiers. Counts the keys of each family, so it is for people and not for every request."""
        return TiersRead(items=[await self._read(cache, prober) for cache, prober in self.tiers])

    async def _read(self, cache: Cache, prober: TierProber) -> TierRead:
        health: TierHealth = prober.health
        seen = await self._information(cache) or prober.information
        return TierRead(
            tier=cache.tier,
            state=health.state,
            configured=cache.configured,
            latency_ms=round(health.latency_seconds * 1000, 2) if health.latency_seconds else None,
            version=seen.version if seen else None,
            policy=seen.policy if seen else None,
            hit_rate=_hit_rate(seen),
            evicted_keys=seen.evicted_keys if seen else None,
            used_bytes=seen.used_bytes if seen else None,
            limit_bytes=seen.limit_bytes if seen else None,
            memory_share=seen.memory_share if seen else None,
            keys_without_ttl=seen.keys_without_ttl(cache.database) if seen else None,
            seconds_to_full=health.seconds_to_full,
            uptime_seconds=seen.uptime_seconds if seen else None,
            problems=[problem.message for problem in health.problems],
            databases=_databases(seen),
            families=[await self._family(cache, family) for family in self._of(cache)],
            breaker=BreakerRead(state=cache.breaker.state, history=list(cache.breaker.history)[::-1]),
        )

    def _of(self, cache: Cache) -> list[KeyFamily]:
        return sorted((f for f in self.families if f.tier is cache.tier), key=lambda family: family.name)

    @staticmethod
    async def _information(cache: Cache) -> TierInformation | None:
        try:
            return await cache.info()
        except TierUnavailable:
            return None

    @staticmethod
    async def _family(cache: Cache, family: KeyFamily) -> FamilyRead:
        read = FamilyRead(
            name=family.name,
            pattern=family.pattern,
            kind=family.kind,
            ttl_seconds=family.ttl.total_seconds() if family.ttl else None,
            purpose=family.purpose,
            loss=family.loss,
        )
        if family.kind is Kind.CHANNEL:
            return read
        try:
            survey = await cache.survey(family)
        except TierUnavailable:
            return read
        return read.model_copy(
            update={
                "keys": survey.count,
                "bytes": survey.bytes,
                "without_ttl": survey.without_ttl,
                "shortest_ttl_seconds": survey.shortest_ttl_seconds,
                "longest_ttl_seconds": survey.longest_ttl_seconds,
            }
        )


def _hit_rate(seen: TierInformation | None) -> float | None:
    if seen is None or not seen.hits + seen.misses:
        return None
    return seen.hits / (seen.hits + seen.misses)


def _databases(seen: TierInformation | None) -> list[DatabaseRead]:
    if seen is None:
        return []
    return [
        DatabaseRead(database=number, keys=keys, expires=expires)
        for number, (keys, expires) in sorted(seen.keyspace.items())
    ]
