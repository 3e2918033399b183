"""What the tabs of a node show beside its facts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from control_server.flaps.schemas import FlapRead, SubjectKind
from control_server.flaps.service import FlapService
from control_server.health.schemas import NodeHealth
from control_server.health.service import HealthService
from control_server.incidents.service import IncidentDesk
from control_server.nodes.schemas import NodeRead
from control_server.nodes.service import NodeService
from control_server.observations.schemas import ObservationRead
from control_server.observations.service import Observations
from control_server.portal.rules import told
from control_server.portal.schemas import Happened
from control_server.routing.service import RoutingService
from control_server.traffic.schemas import TrafficRange
from control_server.traffic.service import TrafficService

_EVENTS = 100
_CHANGES = 30


@dataclass(frozen=True, slots=True)
class Overview:
    """The first tab."""

    node: NodeRead
    health: NodeHealth
    seen: ObservationRead
    scores: Mapping[str, FlapRead]


@dataclass(frozen=True, slots=True)
class NodeTabs:
    """The features whose words the tabs join. Every method raises NodeNotFound.

    Health, flaps and routes are read in sessions of their own, so they are asked first: a request never waits
    for a second connection with one in its hand.
    """

    nodes: NodeService
    observations: Observations
    health: HealthService
    flaps: FlapService
    incidents: IncidentDesk

    async def overview(self, node_id: str) -> Overview:
        """How the node is, part by part, and what runs on it."""
        health = await self.health.node(node_id)
        scores = await self.flaps.node(node_id)
        return Overview(
            node=await self.nodes.shown(node_id),
            health=health,
            seen=await self.observations.get(node_id),
            scores={flap.subject: flap for flap in scores if flap.kind is SubjectKind.SESSION},
        )

    async def events(self, node_id: str) -> tuple[NodeRead, Sequence[Happened]]:
        """What happened to it, the latest first."""
        changes = await self.health.history(node_id, _EVENTS)
        transitions = await self.flaps.transitions(node_id=node_id, limit=_EVENTS)
        node = await self.nodes.shown(node_id)
        incidents = await self.incidents.list(node_id=node_id, limit=_EVENTS)
        return node, told(changes, transitions, incidents.items)[:_EVENTS]


@dataclass(frozen=True, slots=True)
class NodeMeasures:
    """The tabs of what is measured on a node. Every method raises NodeNotFound."""

    nodes: NodeService
    routing: RoutingService
    traffic: TrafficService

    async def of_routing(self, node_id: str) -> dict[str, Any]:
        """Its tables in numbers, and what changed in them lately."""
        routing = await self.routing.node(node_id)
        changes = await self.routing.recent(node_id, _CHANGES)
        return {"node": await self.nodes.shown(node_id), "routing": routing, "changes": changes}

    async def of_traffic(self, node_id: str, wanted: TrafficRange) -> dict[str, Any]:
        """All of its links together, and each of them."""
        return {
            "node": await self.nodes.shown(node_id),
            "traffic": await self.traffic.node(node_id, wanted),
            "links": await self.traffic.links(node_id, wanted),
        }
