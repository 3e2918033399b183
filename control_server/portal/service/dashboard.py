"""Everything that the dashboard shows. However many nodes there are, it asks equally often."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from control_server.health.schemas import FleetHealth
from control_server.health.service import HealthService
from control_server.incidents.schemas import IncidentList
from control_server.incidents.service import IncidentDesk
from control_server.portal.schemas import TierGlance
from control_server.probes.schemas import ProbeSummary
from control_server.routing.schemas import FleetRoutingRead
from control_server.routing.service import RoutingService
from control_server.traffic.schemas import FleetTrafficRead, TrafficRange
from control_server.traffic.service import TrafficService
from shared.cache import Cache, TierProber

_INCIDENTS = 5


@dataclass(frozen=True, slots=True)
class Dashboard:
    """One look at the fleet."""

    health: FleetHealth
    incidents: IncidentList
    traffic: FleetTrafficRead
    routing: FleetRoutingRead
    tiers: Sequence[TierGlance]
    probes: Sequence[ProbeSummary]


@dataclass(frozen=True, slots=True)
class DashboardService:
    """The features whose words the dashboard joins."""

    health: HealthService
    incidents: IncidentDesk
    traffic: TrafficService
    routing: RoutingService
    tiers: Sequence[tuple[Cache, TierProber]]

    async def read(self, wanted: TrafficRange, probes: Sequence[ProbeSummary]) -> Dashboard:
        """One look; `probes` are the latest."""
        return Dashboard(
            health=await self.health.fleet(),
            incidents=await self.incidents.list(open_only=True, limit=_INCIDENTS),
            traffic=await self.traffic.fleet(wanted),
            routing=await self.routing.fleet(),
            tiers=[_glance(cache, prober) for cache, prober in self.tiers],
            probes=probes,
        )


def _glance(cache: Cache, prober: TierProber) -> TierGlance:
    health = prober.health
    return TierGlance(
        tier=cache.tier,
        state=health.state,
        latency_ms=round(health.latency_seconds * 1000, 2) if health.latency_seconds else None,
        memory_share=health.memory_share,
    )
