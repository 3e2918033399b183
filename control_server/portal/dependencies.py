"""Wiring of the pages that join features."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends, Request
from sse_starlette import ServerSentEvent

from control_server.agents.service import AgentLink
from control_server.keys import REGISTRY
from control_server.nodes.dependencies import fleet_as_text
from control_server.portal.service import FleetPulse, TierService
from control_server.probes.dependencies import Probes, recent_as_text
from control_server.probes.schemas import ProbeFilter, ProbeSummary
from control_server.resources import ControlResources
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


def _pulse(request: Request) -> PulseStream:
    return PulseStream(request.app.state.fleet_pulse)


FleetPulseOf = Annotated[PulseStream, Depends(_pulse)]


TiersReader = Annotated[Principal, Depends(Require(Scope.TIERS_READ))]


def _tiers(request: Request) -> TierService:
    watched: WatchedTiers = request.app.state.tiers
    return TierService([(tier.cache, tier.prober) for tier in watched.tiers], REGISTRY)


Tiers = Annotated[TierService, Depends(_tiers)]


async def _recent(probes: Probes) -> list[ProbeSummary]:
    return (await probes.list_page(ProbeFilter(), None, _SHOWN)).items


RecentProbes = Annotated[list[ProbeSummary], Depends(_recent)]


async def what_pages_show(resources: ControlResources, link: AgentLink) -> str:
    """A text that differs when the dashboard or the list of nodes would look different."""
    fleet = await fleet_as_text(resources, link)
    return f"{fleet} {await recent_as_text(resources, _SHOWN)}"
