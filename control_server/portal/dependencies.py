"""Wiring of the pages that join features."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends, Request
from sse_starlette import ServerSentEvent

from control_server.agents.service import AgentLink
from control_server.flaps.dependencies import Flaps, flaps_as_text
from control_server.health.dependencies import Health, health_as_text
from control_server.incidents.dependencies import Incidents, incidents_as_text
from control_server.keys import REGISTRY
from control_server.nodes.dependencies import Nodes, fleet_as_text
from control_server.observations.dependencies import ObservationsOf
from control_server.portal.service import (
    DashboardService,
    FleetPulse,
    LatestProbes,
    NodeMeasures,
    NodeTabs,
    TierService,
)
from control_server.probes.dependencies import Probes, recent_as_text
from control_server.probes.schemas import ProbeFilter, ProbeSummary
from control_server.resources import ControlResources
from control_server.routing.dependencies import Routing
from control_server.traffic.dependencies import Traffic
from shared.cache import Cache, TierProber
from shared.kernel.principal import Principal, Scope
from shared.web.principals import Require
from shared.web.streams import sse
from shared.web.tiers import WatchedTiers

_SHOWN = 6


@dataclass(frozen=True, slots=True)
class PulseStream:
    """The pulse as server-sent events."""

    pulse: FleetPulse

    async def follow(self) -> AsyncIterator[ServerSentEvent]:
        """Events without ids: a reader that was away simply looks again."""
        async for word in self.pulse.changes():
            yield sse(word, {})


async def _pulse(request: Request) -> PulseStream:
    return PulseStream(request.app.state.fleet_pulse)


FleetPulseOf = Annotated[PulseStream, Depends(_pulse)]


def _watched(request: Request) -> list[tuple[Cache, TierProber]]:
    watched: WatchedTiers = request.app.state.tiers
    return [(tier.cache, tier.prober) for tier in watched.tiers]


async def _dashboard(
    request: Request, health: Health, incidents: Incidents, traffic: Traffic, routing: Routing
) -> DashboardService:
    return DashboardService(health, incidents, traffic, routing, _watched(request))


DashboardOf = Annotated[DashboardService, Depends(_dashboard)]


async def _tabs(
    nodes: Nodes, observations: ObservationsOf, health: Health, flaps: Flaps, incidents: Incidents
) -> NodeTabs:
    return NodeTabs(nodes, observations, health, flaps, incidents)


async def _measures(nodes: Nodes, routing: Routing, traffic: Traffic) -> NodeMeasures:
    return NodeMeasures(nodes, routing, traffic)


Tabs = Annotated[NodeTabs, Depends(_tabs)]
Measures = Annotated[NodeMeasures, Depends(_measures)]


TiersReader = Annotated[Principal, Depends(Require(Scope.TIERS_READ))]


async def _tiers(request: Request) -> TierService:
    return TierService(_watched(request), REGISTRY)


Tiers = Annotated[TierService, Depends(_tiers)]


async def _recent(probes: Probes) -> LatestProbes:
    async def latest() -> Sequence[ProbeSummary]:
        return (await probes.list_page(ProbeFilter(), None, _SHOWN)).items

    return latest


RecentProbes = Annotated[LatestProbes, Depends(_recent)]


async def what_pages_show(resources: ControlResources, link: AgentLink) -> str:
    """A text that differs when the dashboard or the list of nodes would look different."""
    fleet = await fleet_as_text(resources, link)
    changes = (health_as_text, flaps_as_text, incidents_as_text)
    return " ".join(
        [fleet, await recent_as_text(resources, _SHOWN), *[await say(resources) for say in changes]]
    )
