"""JSON routes of observations, and the HTTP twins of agents' reports."""

from __future__ import annotations

from fastapi import status

from control_server.agents.dependencies import AgentNode, Link
from control_server.nodes.dependencies import Nodes
from control_server.nodes.schemas import NodeId
from control_server.observations.dependencies import ListeningOf, ObservationsOf
from control_server.observations.schemas import ObservationRead
from control_server.policy.dependencies import Reader, Writer
from shared.protocol.fleet import ApplyResult, ReconciliationReport, RuntimeSnapshot
from shared.protocol.frames import SnapshotRequest
from shared.web.routing import Router

router = Router(prefix="/api/v1/nodes", tags=["nodes"])
agents = Router(prefix="/api/v1/agent/reports", tags=["agent"])


@router.get("/{node_id}/observation")
async def get_observation(
    _reader: Reader, node_id: NodeId, nodes: Nodes, observations: ObservationsOf
) -> ObservationRead:
    """What runs on the node, what became of the last generation, and what differs."""
    await nodes.get(node_id)
    return await observations.get(node_id)


@router.post("/{node_id}/observation", status_code=status.HTTP_202_ACCEPTED)
async def ask_for_observation(_writer: Writer, node_id: NodeId, nodes: Nodes, link: Link) -> None:
    """Ask the agent to look at the node now; what it sees comes with the observation."""
    await nodes.get(node_id)
    await link.send(node_id, SnapshotRequest())


@agents.post("/apply-result", status_code=status.HTTP_204_NO_CONTENT)
async def report_apply_result(node_id: AgentNode, report: ApplyResult, listening: ListeningOf) -> None:
    """What became of a generation; the same report that goes over the socket."""
    await listening.take(node_id, report)


@agents.post("/reconciliation", status_code=status.HTTP_204_NO_CONTENT)
async def report_reconciliation(
    node_id: AgentNode, report: ReconciliationReport, listening: ListeningOf
) -> None:
    """What differs; the same report that goes over the socket."""
    await listening.take(node_id, report)


@agents.post("/snapshot", status_code=status.HTTP_204_NO_CONTENT)
async def report_snapshot(node_id: AgentNode, report: RuntimeSnapshot, listening: ListeningOf) -> None:
    """What runs; the same report that goes over the socket."""
    await listening.take(node_id, report)
