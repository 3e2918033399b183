"""The fleet in numbers for a monitoring system: nodes and sessions of the inventory, by a few statements."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from prometheus_client import CollectorRegistry, generate_latest

from control_server.metrics import FleetMetrics
from control_server.nodes.schemas import NodeRead
from control_server.nodes.service import NodeService
from control_server.observations.service import Observations
from control_server.peerings.service import PeeringRegister
from control_server.routing.repository import NumbersRepository
from control_server.traffic.schemas import TrafficRange
from control_server.traffic.service import TrafficService
from shared.protocol.fleet import ProtocolState

_ONLINE = "online"
#: Sessions between own nodes.
_INTERNAL = "rl_i_"
_KINDS = ("imported", "filtered", "exported", "preferred")


@dataclass(frozen=True, slots=True)
class FleetExposition:
    """Reads what the series say."""

    nodes: NodeService
    observations: Observations
    numbers: NumbersRepository
    traffic: TrafficService
    peerings: PeeringRegister

    async def text(self) -> bytes:
        """Everything, in the Prometheus text format."""
        registry = CollectorRegistry()
        metrics = FleetMetrics(registry)
        nodes = (await self.nodes.list()).items
        for node in nodes:
            _node(metrics, node)
        known = {node.node_id for node in nodes}
        for (node_id, family), count in (await self.numbers.best_counts()).items():
            metrics.prefixes.labels(node_id, f"ipv{family}").set(count)
        for entry in (await self.traffic.fleet(TrafficRange.HOURS_2)).nodes:
            for direction, rate in (("received", entry.received_now), ("sent", entry.sent_now)):
                if rate is not None:
                    metrics.traffic.labels(entry.node_id, direction).set(rate)
        await self._sessions(metrics, known)
        return generate_latest(registry)

    async def _sessions(self, metrics: FleetMetrics, known: set[str]) -> None:
        seen = await self.observations.by_node(known)
        peerings = await self.peerings.peerings(None)
        for node_id in sorted(known & seen.keys()):
            snapshot = seen[node_id].snapshot
            allowed = _names(row.name for row in peerings.get(node_id, ()))
            protocols = snapshot.protocols if snapshot is not None else ()
            sessions = [protocol for protocol in protocols if protocol.kind == "BGP"]
            internal = [protocol for protocol in sessions if protocol.name.startswith(_INTERNAL)]
            # As many internal sessions as there are nodes to have them with.
            own = [protocol for protocol in sessions if protocol.name in allowed]
            for protocol in [*own, *internal[: len(known)]]:
                _session(metrics, node_id, protocol)


def _names(peerings: Iterable[str]) -> frozenset[str]:
    """What BIRD calls the sessions of peerings: one for both families, or one for each."""
    return frozenset(f"rl_{name}{family}" for name in peerings for family in ("", "_4", "_6"))


def _node(metrics: FleetMetrics, node: NodeRead) -> None:
    metrics.up.labels(node.node_id).set(node.liveness == _ONLINE)
    if node.agent is not None and node.agent.last_seen_at is not None:
        metrics.seen.labels(node.node_id).set(node.agent.last_seen_at.timestamp())
    for kind, number in (("desired", node.generation.desired), ("applied", node.generation.applied)):
        if number is not None:
            metrics.generation.labels(node.node_id, kind).set(number)


def _session(metrics: FleetMetrics, node_id: str, protocol: ProtocolState) -> None:
    metrics.session_up.labels(node_id, protocol.name).set(protocol.bgp_state == "Established")
    if protocol.since is not None:
        metrics.session_since.labels(node_id, protocol.name).set(protocol.since.timestamp())
    for channel in protocol.channels:
        for kind in _KINDS:
            count = getattr(channel, kind)
            if count is not None:
                metrics.session_routes.labels(node_id, protocol.name, channel.name, kind).set(count)
