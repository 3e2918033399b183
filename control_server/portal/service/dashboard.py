"""Everything that the dashboard shows. However many nodes there are, it asks equally often."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from control_server.health.schemas import FleetHealth
from control_server.health.service import HealthService
from control_server.incidents.schemas import IncidentList, Wanted
from control_server.incidents.service import IncidentDesk
from control_server.portal.schemas import TierGlance
from control_server.probes.schemas import ProbeSummary
from control_server.routing.schemas import FleetRoutingRead
from control_server.routing.service import RoutingService
from control_server.traffic.schemas import SeriesRead, TrafficRange
from control_server.traffic.service import TrafficService
from shared.cache import Cache, TierProber

_INCIDENTS = 5


@dataclass(frozen=True, slots=True)
class Dashboard:
    """One look at the fleet."""

    health: FleetHealth
    incidents: IncidentList
    #: All nodes together.
    traffic: SeriesRead
    routing: FleetRoutingRead
    tiers: Sequence[TierGlance]
    probes: Sequence[ProbeSummary]


#: Asks for the probes of late.
LatestProbes = Callable[[], Awaitable[Sequence[ProbeSummary]]]


@dataclass(frozen=True, slots=True)
class DashboardService:
    """The features whose words the dashboard joins."""

    health: HealthService
    incidents: IncidentDesk
    traffic: TrafficService
    routing: RoutingService
    tiers: Sequence[tuple[Cache, TierProber]]

    async def read(self, wanted: TrafficRange, latest_probes: LatestProbes) -> Dashboard:
        """One look. What is read in sessions of its own comes first: no connection is held meanwhile."""
        health, routing = await self.health.fleet(), await self.routing.fleet()
        return Dashboard(
            health=health,
            incidents=await self.incidents.list(Wanted.COUNTED, limit=_INCIDENTS),
            traffic=await self.traffic.together(wanted),
            routing=routing,
            tiers=[_glance(cache, prober) for cache, prober in self.tiers],
            probes=await latest_probes(),
        )


def _glance(cache: Cache, prober: TierProber) -> TierGlance:
    health = prober.health
    return TierGlance(
        tier=cache.tier,
        state=health.state,
        latency_ms=round(health.latency_seconds * 1000, 2) if health.latency_seconds else None,
        memory_share=health.memory_share,
    )
